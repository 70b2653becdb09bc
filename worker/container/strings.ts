/** The English of the native encoder's errors. */
export const strings = {
  unknownField: (field: string) => `${field}: is unknown to this encoder.`,
  wrongProtocol: (versions: readonly number[]) => `protocol: must be ${versions.join(" or ")}.`,
  wrongName: (several: boolean) =>
    `name must be ${several ? "null for adaptive video, storyboards and several stills" : "a file name"}.`,
  wrongFurther: (count: number) => `further must hold ${count} files.`,
  foreignUrl: (field: string) => `${field} must be at one of this encoder's SERVICE_ORIGINS.`,
  notOnePicture: "is not of one picture",
  fault: (field: string, message = "is invalid") => `${field}: ${message}.`,
} as const;
