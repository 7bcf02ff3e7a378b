import { orUnexpected } from "./response.ts";

/** `id`: the newest one so far, "" if there was none. `data`: undefined if the event only moves that. */
export type StreamEvent = Readonly<{ id: string; data: string | undefined }>;

/**
 * The events of a text/event-stream, as the WHATWG says it is read
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation), but that an id without
 * data is an event as well. What is cut off at the end is none. Cancels the stream if the loop ends early. `onRetry`: how
 * long to wait before the next connection. Throws an UnexpectedAnswerError if it is not UTF-8.
 */
export async function* readEvents(
  bytes: ReadableStream<Uint8Array>,
  onRetry: (waitMs: number) => void,
): AsyncGenerator<StreamEvent, void, undefined> {
  const reader = bytes.getReader();
  const split = lineSplitter();
  const interpret = interpreter(onRetry);
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      for (const line of split(chunk.value)) {
        const event = interpret(line);
        if (event) yield event;
      }
    }
  } finally {
    await reader.cancel();
  }
}

const NO_TEXT = "The event stream is not UTF-8: check the url and any proxy in between.";

/** The lines that end in the next bytes: at CR, LF or both, which may come apart. */
function lineSplitter(): (bytes: Uint8Array) => string[] {
  // It drops a byte order mark, and keeps a character that is cut.
  const utf8 = new TextDecoder("utf-8", { fatal: true });
  let rest = "";
  let endedWithCr = false;
  return (bytes) => {
    const decoded = orUnexpected(NO_TEXT, () => utf8.decode(bytes, { stream: true }));
    if (decoded === "") return [];
    const text = endedWithCr && decoded.startsWith("\n") ? decoded.slice(1) : decoded;
    endedWithCr = text.endsWith("\r");
    const [first = "", ...more] = text.split(/\r\n|\r|\n/);
    const lines = [rest + first, ...more];
    rest = lines.pop() ?? "";
    return lines;
  };
}

function interpreter(onRetry: (waitMs: number) => void): (line: string) => StreamEvent | undefined {
  let [id, lastId, type] = ["", "", ""];
  let data: string[] = [];
  function dispatch(): StreamEvent | undefined {
    // Events of other types are not for us.
    const isMessage = data.length > 0 && (type === "" || type === "message");
    const event = { id, data: isMessage ? data.join("\n") : undefined };
    const isNews = isMessage || id !== lastId;
    [lastId, type, data] = [id, "", []];
    return isNews ? event : undefined;
  }
  return (line) => {
    if (line === "") return dispatch();
    const [, field = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line)!;
    if (field === "data") data.push(value);
    else if (field === "event") type = value;
    else if (field === "id" && !value.includes("\0")) id = value;
    else if (field === "retry" && /^\d+$/.test(value)) onRetry(Number(value));
    return undefined;
  };
}
