// The same journey with the client of @hey-api/openapi-ts. The test generates `sdk/` beside it.
import { createClient } from "./sdk/client";
import { createPlant, createToken, getPlant, listPlants, patchPlant, putPlant } from "./sdk";
import type { NewPlant } from "./sdk";

export async function travel(baseUrl: string, secret: string): Promise<unknown[]> {
  const admin = createClient({ baseUrl, auth: secret });
  const made = await createToken({ client: admin, body: { name: "openapi-ts", scopes: ["plants:read", "plants:write"] } });
  const token: string | undefined = made.data?.token;
  if (token === undefined) throw new Error("no secret");
  const client = createClient({ baseUrl, auth: token });
  const created = await createPlant({ client, body: { id: 7, name: "Ficus", tag: "tree" } });
  const etag: string | null | undefined = created.response?.headers.get("etag");
  const listed = await listPlants({ client, query: { limit: 10, tag: "tree" } });
  const first: NewPlant | undefined = listed.data?.[0];
  const read = await getPlant({ client, path: { id: 7 } });
  const put = await putPlant({ client, path: { id: 8 }, headers: { "If-None-Match": "*" }, body: { name: "Acer" } });
  const patched = await patchPlant({ client, path: { id: 7 }, body: { tag: null } });
  const missing = await getPlant({ client, path: { id: 9 } });
  const error: number | undefined = missing.error?.error;
  return [
    created.data?.name,
    etag !== null,
    first?.id,
    read.data?.name,
    put.response?.status,
    patched.data,
    missing.response?.status,
    error,
  ];
}
