// A journey with the types of openapi-typescript, in openapi-fetch. The test generates `paths` beside it.
import createClient from "openapi-fetch";
import type { components, paths } from "./paths";

export async function travel(baseUrl: string, secret: string): Promise<unknown[]> {
  const admin = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${secret}` } });
  const made = await admin.POST("/tokens", { body: { name: "openapi-fetch", scopes: ["plants:read", "plants:write"] } });
  const token: string | undefined = made.data?.token;
  if (token === undefined) throw new Error("no secret");
  const plants = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${token}` } });
  const created = await plants.POST("/plants", { body: { id: 7, name: "Ficus", tag: "tree" } });
  const etag: string | null = created.response.headers.get("etag");
  const listed = await plants.GET("/plants", { params: { query: { limit: 10, tag: "tree" } } });
  const first: components["schemas"]["NewPlant"] | undefined = listed.data?.[0];
  const read = await plants.GET("/plants/{id}", { params: { path: { id: 7 } } });
  const put = await plants.PUT("/plants/{id}", { params: { path: { id: 8 }, header: { "If-None-Match": "*" } }, body: { name: "Acer" } });
  const patched = await plants.PATCH("/plants/{id}", { params: { path: { id: 7 } }, body: { tag: null } });
  const missing = await plants.GET("/plants/{id}", { params: { path: { id: 9 } } });
  const error: number | undefined = missing.error?.error;
  return [created.data?.name, etag !== null, first?.id, read.data?.name, put.response.status, patched.data, missing.response.status, error];
}
