/** The least that a create can be: HTTP and JSON by the same runtime, and nothing else. Usage: `bun bench/ceiling.ts PORT`. */
Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.argv[2]),
  development: false,
  routes: { "/readyz": new Response("ok") },
  async fetch(request) {
    const { name, tag } = (await request.json()) as { name: string; tag?: string };
    return Response.json({ name, tag });
  },
});
