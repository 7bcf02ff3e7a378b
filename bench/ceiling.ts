/**
 * The upper bound for creates and reads: HTTP and JSON on the same runtime, and nothing else. Usage: `bun
 * bench/ceiling.ts PORT`.
 */
Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.argv[2]),
  development: false,
  routes: { "/readyz": new Response("ok") },
  async fetch(request) {
    if (request.method === "GET") return Response.json({ id: Number(request.url.slice(request.url.lastIndexOf("/") + 1)), name: "Plant" });
    const { name, tag } = (await request.json()) as { name: string; tag?: string };
    return Response.json({ name, tag });
  },
});
