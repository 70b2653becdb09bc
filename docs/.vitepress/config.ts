import { defineConfig } from "vitepress";

// Pages of wide tables and diagrams have no outline beside them.
const WIDE = ["architecture.md", "benchmarks.md", "contributing.md", "settings.md", "strangers.md"];

// Nothing is loaded from elsewhere: fonts and search are built in. A dead link fails the build.
export default defineConfig({
  title: "Framewright",
  description:
    "Media processing with one task model, in a browser page, on Cloudflare Workers and in a container",
  outDir: "../dist/docs",
  cacheDir: "../dist/.vitepress",
  // Works in a folder of any server.
  base: process.env.DOCS_BASE ?? "/",
  markdown: { theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" } },
  vite: { server: { fs: { allow: [".."] } } },
  transformPageData({ relativePath, frontmatter }) {
    if (WIDE.includes(relativePath)) frontmatter.aside = false;
  },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    nav: [
      { text: "Guides", link: "/page" },
      { text: "Recipes", link: "/recipes/page" },
      { text: "Reference", link: "/reference/library" },
    ],
    sidebar: [
      {
        text: "Guides",
        items: [
          { text: "In a page", link: "/page" },
          { text: "The service", link: "/service" },
          { text: "Options", link: "/options" },
          { text: "Automatic quality", link: "/quality" },
          { text: "Image URLs", link: "/images" },
          { text: "S3 storage", link: "/s3" },
          { text: "Webhooks", link: "/webhooks" },
          { text: "Deploying to Cloudflare", link: "/deploying" },
          { text: "Native encoders of your own", link: "/encoders" },
          { text: "Settings", link: "/settings" },
        ],
      },
      {
        text: "Recipes",
        items: [
          { text: "In a page", link: "/recipes/page" },
          { text: "At a service", link: "/recipes/service" },
        ],
      },
      {
        text: "Reference",
        items: [
          { text: "Library", link: "/reference/library" },
          { text: "HTTP API", link: "/reference/http-api" },
          { text: "What runs where", link: "/support" },
          { text: "Troubleshooting", link: "/troubleshooting" },
        ],
      },
      {
        text: "Coming from",
        items: [
          { text: "ffmpeg.wasm", link: "/from-ffmpeg-wasm" },
          { text: "mediabunny", link: "/from-mediabunny" },
        ],
      },
      {
        text: "The project",
        items: [
          { text: "Architecture", link: "/architecture" },
          { text: "Benchmarks", link: "/benchmarks" },
          { text: "Files from other projects", link: "/strangers" },
          { text: "Contributing", link: "/contributing" },
        ],
      },
    ],
  },
});
