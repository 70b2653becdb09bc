// Runs in the reference page, after Swagger UI's own script.
window.SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#reference",
  // By default, Swagger UI sends the document to a validator on the internet.
  validatorUrl: null,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  persistAuthorization: false,
});
