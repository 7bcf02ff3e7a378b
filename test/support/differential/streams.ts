import { below, pick } from "../random.ts";
import type { Random } from "../random.ts";

/** What the last request of each stream asks for: where the others end shows in whether it is understood. */
const LAST = "GET /last HTTP/1.1\r\nHost: plants\r\n\r\n";

/** How often a part is an odd one: so seldom that often a single part of a stream is. */
const ODD_ONE_IN = 40;

/** Up to three requests in a row as bytes, one character for each, and the last one behind them. Any part may be odd. */
export function drawStream(random: Random): string {
  const requests = Array.from({ length: 1 + below(random, 3) }, () => drawRequest(random)).join("");
  const stream = damage(random, `${requests}${LAST}`);
  return isOdd(random) ? stream.slice(0, below(random, stream.length)) : stream;
}

function drawRequest(random: Random): string {
  const line = [part(random, METHODS), space(random), drawTarget(random), space(random), part(random, VERSIONS)].join("");
  const { fields, body } = part(random, { usual: [plain, sized, chunked], odd: [mixed] })(random);
  const others = Array.from({ length: below(random, 3) }, () => drawField(random)).flat();
  const lines = [...fieldsIn(part(random, HOSTS)), ...shuffle(random, [...others, ...fields])];
  const end = () => part(random, LINE_ENDS);
  return `${part(random, EMPTY_LINES)}${line}${end()}${lines.map((text) => text + end()).join("")}${end()}${body}`;
}

// --- parts ---

type Parts<Part = string> = Readonly<{ usual: readonly Part[]; odd: readonly Part[] }>;

const METHODS: Parts = {
  usual: split("GET|POST|POST|PUT|PATCH|DELETE|HEAD|OPTIONS"),
  odd: split("TRACE|CONNECT|get||G ET|PRI|M-SEARCH|PROPFIND|POSTS|PO|P\0ST|G\u00ebT|\tGET|GET\r"),
};

const TARGETS: Parts = {
  usual: split("/|/plants|/plants?q=a%20b&r|/plants/-1?|/%70lants/%C3%A9|http://plants/plants?a|http://plants"),
  odd: split(`*|/*||plants|plants:80|?a|#|//plants//x|/a?b?c|/a#b|/a#b?c|/../x|/%2F|/%|/%zz|/%ff|/%00|/a%0d%0aX:%20y|/a b|/a\tb|
    /a\u007f|/\u00e4|/\u0080|/"<>^\`{}|/\\x|/a\u000bb|/a\0b|/a\rb|http://|http:///x|http://a?b|http://a#b|HTTP://a:80/x|https://a/x|
    http://u@a/x|http://u@v@a/x|http://[::1]/x|ftp://a/x|urn:a|http:/x|http:x|http://a b/x|http://\u00e4/x|http://a\\x|://a/x|1http://a/x`),
};

const VERSIONS: Parts = {
  usual: split("HTTP/1.1|HTTP/1.1|HTTP/1.1|HTTP/1.1|HTTP/1.1|HTTP/1.0"),
  odd: split(`HTTP/1.2|HTTP/2.0|HTTP/0.9|HTTP/1.10|HTTP/01.1|HTTP/1|HTTP/1.|HTTP/.1|HTTP/1,1|http/1.1|HTTP1.1|HTTP /1.1|HTTP/ 1.1|HTTP/1.1 |
    HTTP/1.1\t|HTTP/1.1\u000b|HTTP/1.1 x|RTSP/1.0|ICE/1.0||HTTP/1.1\0|HTTP/1.\u00b9`),
};

const SPACES: Parts = { usual: [" "], odd: split("  |\t||\u000b|\u000c|\u00a0|\r|\n| \t") };

const LINE_ENDS: Parts = {
  usual: ["\r\n"],
  odd: split("\n|\r||\r\r\n|\n\r|\n\r\n|\r\n |\r\n\t| \r\n|\0\r\n|\r\n\r\n|\r\n\r|\r \n|\u0085"),
};

/** In front of a request. */
const EMPTY_LINES: Parts = { usual: split("||||\r\n"), odd: split("\n|\r|\r\n\r\n| |\t| \r\n|\0|\n\r\n|\ufeff") };

const HOSTS: Parts = {
  usual: split("Host: plants|host:plants:80|HOST:\t[::1]\t"),
  odd: split("|Host:|Host: a&Host: b|Host : plants|Host: a b|Host: \u00e4|Host: a, b| Host: plants"),
};

const NAMES: Parts = {
  usual: [...split("X|x-odd|X_y|Accept|Cookie"), "!#$%&'*+-.^_`|~1"],
  odd: split('|X Y| X|X\t|(X)|X\0|X\u0080|X\u00df|X\r|X\n|X:|X;|X/1|"X"|\u212a'),
};

const COLONS: Parts = { usual: split(":|: |:\t|:  \t"), odd: split(" :|\t:||=|\r:|\u000b:|\0:|:\u000b|:\r|:\u00a0") };

const VALUES: Parts = {
  usual: split('|y|a, b|y \t|"a\\"b"|a:b|\u0080\u00ff|y\tz|{[()]}'),
  odd: split("y\0|y\rz|y\nz|\u007f|\u0001|\u000b|\u000c|y\u001f|\u0085|\r|\n|y\r\n z|y\r\n\tz|y\r\nz|GET / HTTP/1.1"),
};

/** Fields that say something about the connection. */
const OPTIONS: Parts = {
  usual: split(
    "Connection: keep-alive|Connection: Keep-Alive, x|Connection: x|Expect: 100-continue|Upgrade: h2c|Connection: Upgrade&Upgrade: websocket",
  ),
  odd: split(`Connection: close|Connection: Close, x|Connection: keep-alive, close|Connection: ,|Connection: Upgrade|Connection:|
    TE: trailers|Expect: x|Proxy-Connection: close|Trailer: Content-Length|Connection: content-length|
    Connection: close&Connection: keep-alive|Connection: closed|Connection: clo se|Keep-Alive: timeout=0`),
};

const LENGTH_NAMES: Parts = {
  usual: split("Content-Length|content-length|CONTENT-LENGTH"),
  odd: split(
    "Content-Length | Content-Length|Content_Length|Content-Lengt|Content-Lengthx|Content-Length\0|Content-Length\t|Content-Length:",
  ),
};

/** `<n>` is the right one, `<m>` another; an ampersand is between two fields. */
const LENGTHS: Parts = {
  usual: split("<n>|0<n>|000000000000000000000<n>|<n>&<n>|<n>, <n>|<n>\t "),
  odd: split(`+<n>|-<n>|<m>|0x<n>|<n>.0|<n>.|<n>e0|<n>,|,<n>|<n>,<n>|<n>, <m>|<m>, <n>|<n>;|<n> <n>|<n>\0|<n>_|<n>\u000b|\u000b<n>|\u00a0<n>|
    "<n>"|\t|x|<n>x|-0|1844674407370955161<n>|18446744073709551616|\u00b9|9007199254740993|4294967296|<n>\r|<n>\r\n 0|\r\n <n>|<n>\r\n\t|
    0<n>, <n>|<n>, 0<n>|\uff11|Infinity|NaN|<n>&<m>|<m>&<n>|<n>&|&<n>|<n>&0<n>|<n>&+<n>|0&<n>|<n>&<n>&<m>`),
};

const CODING_NAMES: Parts = {
  usual: split("Transfer-Encoding|transfer-encoding|TRANSFER-ENCODING"),
  odd: split(
    "Transfer-Encoding | Transfer-Encoding|Transfer_Encoding|Transfer-Encodin|Transfer-Encoding\0|Transfer-Encoding\t|Transfer-Encoding:",
  ),
};

const CODINGS: Parts = {
  usual: split("chunked|Chunked|CHUNKED\t |chunked|chunked|chunked,|,, chunked"),
  odd: split(`\t|x|identity|gzip|gzip, chunked|chunked, gzip|chunked, chunked|chunked chunked|chunked;q=1|x chunked|chunke|chunkedx|xchunked|
    "chunked"|chunked\0|chunked\u000b|\u000bchunked|\u00a0chunked|chunked\r\n |\r\n chunked|chunked\r|chunked;|chun\u212aed|chunked ,|
    chunked\r\n\t, gzip|x,chunked|chunked, identity|identity, chunked|chunked&chunked|gzip&chunked|chunked&gzip|chunked&|&chunked|
    chunked&identity|identity&chunked`),
};

const BODIES: Parts = {
  usual: split('x|plants|\r\n|0\r\n\r\n|\0\u00ff\u0080|{"id":1}|sixteen letters.'),
  odd: ["", "GET /behind HTTP/1.1\r\nHost: plants\r\n\r\n", "1\r\nx\r\n0\r\n\r\n", "x".repeat(300)],
};

/** `<s>` is the right size in small letters, `<S>` in capitals. */
const SIZES: Parts = {
  usual: split("<s>|<S>|<s>|0<s>|0000000000000000000000<S>"),
  odd: split(`|+<s>|-<s>|0x<s>|<s> | <s>|<s>\t|\t<s>|<s>g|g|<s>_|<s>.|<s>,|"<s>"|<s>h|<s>\0|1<s>|<s>0|10000000000000000<s>|fffffffffffffffff|
    ffffffffffffffff|1000000000000<s>|100000000<s>|<s>\r|<s>\n|\r\n<s>|<s>\u00a0|\`|@|/`),
};

const EXTENSIONS: Parts = {
  usual: split('|||;a|;a=b|;a="b;c"|;a;b=c'),
  odd: split(`;|;;|; a|;a =b|;a= b| ;a|\t;a|;a=|;=b|;a="b|;a="b\\"c"|;a="b\\|;a="b"c|;\n|;a\n|;a\r|;\0|;\u0001|;a=\u00ff|;\u007f|;a=\t|,a| a|=a|
    ;a="\r\n"|;a="\u00ff"|;a=b\r\n |;xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx|;a\r\r|;a=(b)|;(a)|;a b`),
};

const LAST_SIZES: Parts = { usual: split("0|00|0"), odd: split("|+0|-0|0x0|0 | 0|0h|\0|000000000000000000000|0\t|0_") };

const TRAILERS: Parts = {
  usual: split("|||X: y|X:&x-odd:\t\u00ff |Content-Length: 5|Transfer-Encoding: chunked|Host: others"),
  odd: split("X|X : y| X: y|X: y& z|X: \0|X: y\rz|X: y\nz|: y|X\u0080: y|X: \u007f|X: \u0001|Connection: close"),
};

/** Parts between bars. A line of this file may end behind a bar. */
function split(text: string): string[] {
  return text.split(/\|(?:\n +)?/);
}

/** The fields in a part, which are between ampersands; none in an empty one. */
function fieldsIn(text: string): string[] {
  return text === "" ? [] : text.split("&");
}

// --- the fields that say where a body ends, with the body ---

type Framed = Readonly<{ fields: readonly string[]; body: string }>;

function plain(): Framed {
  return { fields: [], body: "" };
}

function sized(random: Random): Framed {
  const body = part(random, BODIES);
  return { fields: lengthFields(random, body.length), body };
}

function chunked(random: Random): Framed {
  const texts = Array.from({ length: below(random, 3) }, () => part(random, BODIES)).filter((text) => text !== "");
  const body = texts.map((text) => drawChunk(random, text)).join("") + drawEnd(random);
  return { fields: codingFields(random), body };
}

/** Both, or one with the body of the other. */
function mixed(random: Random): Framed {
  const [one, other] = [sized(random), chunked(random)];
  const { body } = pick(random, [one, other]);
  return pick(random, [
    { fields: [...one.fields, ...other.fields], body },
    { fields: [...lengthFields(random, other.body.length), ...other.fields], body: other.body },
    { fields: one.fields, body: other.body },
    { fields: other.fields, body: one.body },
    { fields: [], body },
  ]);
}

function lengthFields(random: Random, length: number): string[] {
  const other = pick(random, [0, length + 1, Math.max(0, length - 1), length * 10]);
  return fieldsIn(part(random, LENGTHS)).map(
    (text) => part(random, LENGTH_NAMES) + part(random, COLONS) + text.replaceAll("<n>", String(length)).replaceAll("<m>", String(other)),
  );
}

function codingFields(random: Random): string[] {
  return fieldsIn(part(random, CODINGS)).map((text) => part(random, CODING_NAMES) + part(random, COLONS) + text);
}

function drawChunk(random: Random, text: string): string {
  const size = text.length.toString(16);
  const sizes = part(random, SIZES).replaceAll("<s>", size).replaceAll("<S>", size.toUpperCase());
  return sizes + part(random, EXTENSIONS) + part(random, LINE_ENDS) + text + part(random, LINE_ENDS);
}

function drawEnd(random: Random): string {
  const lines = [part(random, LAST_SIZES) + part(random, EXTENSIONS), ...fieldsIn(part(random, TRAILERS)), ""];
  return lines.map((line) => line + part(random, LINE_ENDS)).join("");
}

function drawTarget(random: Random): string {
  return isOdd(random) ? `/a${anyByte(random)}b` : part(random, TARGETS);
}

function drawField(random: Random): string[] {
  if (below(random, 3) === 0) return fieldsIn(part(random, OPTIONS));
  if (isOdd(random)) return [`X${anyByte(random)}y:${anyByte(random)}z${anyByte(random)}`];
  return [part(random, NAMES) + part(random, COLONS) + part(random, VALUES)];
}

// --- draws ---

function space(random: Random): string {
  return part(random, SPACES);
}

function isOdd(random: Random): boolean {
  return below(random, ODD_ONE_IN) === 0;
}

function part<Part>(random: Random, { usual, odd }: Parts<Part>): Part {
  return pick(random, isOdd(random) ? odd : usual);
}

function anyByte(random: Random): string {
  return String.fromCharCode(below(random, 256));
}

/** Some streams get a byte more, less or in place of another, anywhere. */
function damage(random: Random, text: string): string {
  if (below(random, 8) > 0) return latin1(text);
  const at = below(random, text.length);
  const byte = pick(random, [() => "", () => anyByte(random), () => pick(random, ["\r", "\n", " ", "\t", ":", "\0", "0"])])();
  return latin1(text.slice(0, at) + byte + text.slice(at + below(random, 2)));
}

/** Some parts have characters that look like others: their bytes in UTF-8. */
function latin1(text: string): string {
  return text.replaceAll(/[^\0-\xff]/g, (character) => Buffer.from(character).toString("latin1"));
}

function shuffle<Item>(random: Random, items: readonly Item[]): Item[] {
  const placed = items.map((item) => ({ item, place: random() }));
  return placed.toSorted((a, b) => a.place - b.place).map(({ item }) => item);
}
