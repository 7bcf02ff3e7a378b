import { expect } from "bun:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { loadContract } from "../../src/domain/contract.ts";

const contract = JSON.parse(loadContract().served) as Record<string, unknown>;
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(contract, "contract");

/**
 * * Asserts that the contract allows this response: its status, its required headers, the header that all have, and the
 * schema of its body. Returns the body: a value * if it is JSON, text if it is a file, undefined if the contract says
 * that there is none.
 */
export async function expectConform(operation: { method: string; path: string }, response: Response): Promise<unknown> {
  const { pointer, answer } = findAnswer(operation, response.status);
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  for (const [name, header] of Object.entries(answer.headers ?? {})) {
    const { required } = "$ref" in header ? (resolve(header.$ref) as { required?: boolean }) : header;
    if (required) expect(response.headers.get(name), `the header ${name} of a ${response.status}`).not.toBeNull();
  }
  if (!answer.content) {
    expect([response.headers.get("content-type"), await response.text()]).toEqual([null, ""]);
    return undefined;
  }
  const type = response.headers.get("content-type");
  if (!("application/json" in answer.content)) {
    expect(Object.keys(answer.content)).toContain(type?.split(";", 1)[0] ?? "");
    return response.text();
  }
  expect(type).toBe("application/json");
  const body: unknown = await response.json();
  const validate = ajv.getSchema(`contract${pointer}/content/application~1json/schema`)!;
  expect(validate(body), `${JSON.stringify(body)}: ${ajv.errorsText(validate.errors)}`).toBe(true);
  return body;
}

type AnswerObject = { $ref?: string; headers?: Record<string, { $ref?: string; required?: boolean }>; content?: Record<string, unknown> };

function findAnswer({ method, path }: { method: string; path: string }, status: number): { pointer: string; answer: AnswerObject } {
  const operation = `#/paths/${path.replaceAll("/", "~1")}/${method.toLowerCase()}/responses/${status}`;
  const pointer = find(operation) ? operation : `#/x-outside-operations/${status}`;
  const answer = resolve(pointer) as AnswerObject;
  return answer.$ref ? { pointer: answer.$ref, answer: resolve(answer.$ref) as AnswerObject } : { pointer, answer };
}

function resolve(pointer: string): unknown {
  const found = find(pointer);
  if (!found) throw new Error(`The contract has nothing at ${pointer}.`);
  return found;
}

function find(pointer: string): unknown {
  const steps = pointer.slice(2).split("/");
  return steps.reduce<unknown>((node, step) => (node as Record<string, unknown> | undefined)?.[step.replaceAll("~1", "/")], contract);
}
