import Fastify from "fastify";

const plant = { type: "object", required: ["name"], properties: { name: { type: "string" }, tag: { type: "string" } } };
const newPlant = { ...plant, required: ["id", "name"], properties: { id: { type: "integer" }, ...plant.properties } };

/** What both stores share. `insert` returns, or promises, whether the plant is new. */
export function createApp(insert, token) {
  const app = Fastify({ logger: false });
  app.get("/readyz", () => ({ status: "ok" }));
  app.post("/plants", {
    schema: { body: newPlant, response: { 200: plant } },
    async onRequest(request, reply) {
      if (request.headers.authorization !== `Bearer ${token}`) return reply.code(401).send();
    },
    async handler(request, reply) {
      const { id, name, tag } = request.body;
      return (await insert(id, name, tag ?? null)) ? { name, tag } : reply.code(409).send();
    },
  });
  return app;
}
