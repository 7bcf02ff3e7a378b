// Made from openapi.yaml by generate.ts: do not edit, run `npm run contract`.
export type OperationId = "createPlant" | "getPlant" | "getLiveness" | "getReadiness" | "getContract" | "getBaseContract";
