/** What happened to a plant. */
export type ChangeKind = "created" | "replaced" | "deleted";
