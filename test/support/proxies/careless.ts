/**
 * Three replicas that keep plants in memory, on the runtime's own server, with its bugs: an unknown method closes the
 * connection without a response, and late trailers are answered with a second 400
 * (https://github.com/oven-sh/bun/pull/32887). A proxy has to stop both to protect clients. The replicas accept any
 * token.
 */
export function startCareless(): Readonly<{ hosts: readonly string[]; stop(): void }> {
  const plants = new Map([["/readyz", "{}"]]);

  async function answer(request: Request): Promise<Response> {
    const headers = { "x-request-id": request.headers.get("x-request-id") ?? "", "content-type": "application/json" };
    const text = await request.text();
    const path = /\/(?:plants\/\d+|readyz)$/.exec(request.url)?.[0] ?? "";
    const id = /^\{"id":(\d+),/.exec(text)?.[1];
    if (request.method === "POST" && id !== undefined) {
      plants.set(`/plants/${id}`, text);
      return new Response(text.replace(/"id":\d+,/, ""), { headers });
    }
    const found = plants.get(path);
    return new Response(found ?? "{}", { status: found === undefined ? 404 : 200, headers });
  }

  const servers = Array.from({ length: 3 }, () =>
    Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: answer, development: false, error: () => new Response(null, { status: 500 }) }),
  );
  return { hosts: servers.map(({ port }) => `127.0.0.1:${port}`), stop: () => servers.forEach((server) => void server.stop(true)) };
}
