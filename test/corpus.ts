import type { ErrorCode } from "../src/domain/errors.ts";

// Requests that are easily misread: what is sent, what must come, and the section that says so. Runners feed them to the
// parser and to the service (http/corpus.test.ts), through proxies (resilience/proxies.night.ts), and to other parsers
// (resilience/parser-differential.night.ts).

/**
 * "created": its plant is stored. "answered": it is understood, and stores nothing. Otherwise the error that refuses it,
 * after which nothing on its connection counts, unless it only names something that is not there.
 */
type Outcome = "created" | "answered" | ErrorCode;

export type Entry = Readonly<{
  what: string;
  source: string;
  comes: Outcome;
  /** Whether the connection ends after it. */
  isLast: boolean;
  /** What is sent, in pieces with a pause between them. A character is a byte. */
  packets: (plant: string, token: string) => string[];
}>;

/** `form`: the request, with the text of a row in place of "@". */
type Group = Readonly<{ of: string; source: string; comes: Outcome; form: string; rows: Readonly<Record<string, string>> }>;

// In a text, <n> and <s> are the length of the plant, decimal and hexadecimal, and <b> is the plant. <wait> is a pause.
const LINE = "POST /plants HTTP/1.1\r\n";
const HOST = "Host: plants\r\n";
const LOGIN = "Authorization: Bearer <token>\r\n";
const HEAD = LINE + HOST + LOGIN;
const SIZED = "Content-Length: <n>\r\n\r\n<b>";
const CODED = `${HEAD}Transfer-Encoding: chunked\r\n\r\n`;
const END = "0\r\n\r\n";
const CHUNK = "<s>\r\n<b>\r\n";

/** Paths that are easily taken for this one, a name of eight letters or less. */
const elsewhere = (name: string) => ({
  "has two slashes": `//${name}`,
  "has a slash at its end": `/${name}/`,
  "has two slashes at its end": `/${name}//`,
  "has a dot": `/./${name}`,
  "has a dot in percent-encoding": `/%2e/${name}`,
  "goes up": `/plants/../${name}`,
  "goes up in percent-encoding": `/plants/%2e%2e/${name}`,
  "goes up in half percent-encoding": `/plants/.%2E/${name}`,
  "goes up, in the absolute form": `http://plants/x/../${name}`,
  "goes up with backslashes": `/x\\..\\${name}`,
  "has a dot and a backslash": `/.\\${name}`,
  "has a backslash": `/\\${name}`,
  "begins with an encoded slash": `/%2F${name}`,
  "ends with an encoded slash": `/${name}%2F`,
  "ends with an encoded NUL": `/${name}%00`,
  "is encoded twice": `/%25${name.charCodeAt(0).toString(16)}${name.slice(1)}`,
  "has a fragment": `/${name}#x`,
  "has a parameter": `/${name};x`,
  "has a byte 0x7f": `/${name}\u007f`,
  "has a byte above 0x7f": `/${name}\u00ff`,
});

/** Ways to write what looks like /tokens. */
export const TOKENS_TARGETS = ["/%74okens", ...Object.values(elsewhere("tokens"))];

const GROUPS: readonly Group[] = [
  group(
    { of: "a length that", source: "RFC 9110, 8.6; RFC 9112, 6.3", comes: "malformed_request", form: `${HEAD}@\r\n\r\n<b>` },
    {
      "is signed with a plus": "Content-Length: +<n>",
      "is signed with a minus": "Content-Length: -<n>",
      "is hexadecimal": "Content-Length: 0x<n>",
      "is two numbers": "Content-Length: <n> <n>",
      "is a list of two that differ": "Content-Length: <n>, 5",
      "is a list with nothing after its comma": "Content-Length: <n>,",
      "is a list with nothing before its comma": "Content-Length: ,<n>",
      "is empty": "Content-Length:",
      "is white space": "Content-Length: \t ",
      "has a fraction": "Content-Length: <n>.0",
      "has an exponent": "Content-Length: <n>e0",
      "has a parameter": "Content-Length: <n>;a=b",
      "is quoted": 'Content-Length: "<n>"',
      "has an underscore": "Content-Length: <n>_0",
      "is written in digits of another script": "Content-Length: \u00d9\u00a2\u00d9\u00a0",
      "would be rounded": "Content-Length: 9007199254740993",
      "is beyond 64 bits": "Content-Length: 184467440737095516<n>",
      "is beyond all numbers": `Content-Length: ${"9".repeat(400)}`,
      "has a vertical tab before it": "Content-Length:\v<n>",
      "has a form feed after it": "Content-Length: <n>\f",
      "has a NUL after it": "Content-Length: <n>\0",
      "has a byte above 0x7f after it": "Content-Length: <n>\u00ff",
      "has a byte above 0x7f before it": "Content-Length: \u00a0<n>",
      "is duplicated and differs": "Content-Length: <n>\r\nContent-Length: 5",
      "is duplicated and is 0 first": "Content-Length: 0\r\nContent-Length: <n>",
      "is duplicated, once with an underscore for its minus": "Content_Length: 5\r\nContent-Length: +<n>",
      "has a space before its colon": "Content-Length : <n>",
      "has a tab before its colon": "Content-Length\t: <n>",
      "has a NUL before its colon": "Content-Length\0: <n>",
      "has a byte above 0x7f before its colon": "Content-Length\u00ff: <n>",
      "has a byte above 0x7f before its name": "\u00ffContent-Length: <n>",
      "is folded to a second line": "Content-Length:\r\n <n>",
      "is in a folded line": "X: a\r\n Content-Length: <n>",
      "comes after a bare CR": "X: a\rContent-Length: <n>",
      "comes after a bare CR and differs": "Content-Length: 5\rContent-Length: <n>",
      "comes after a bare LF and differs": "X: a\nContent-Length: <n>\r\nContent-Length: 5",
    },
  ),
  group(
    { of: "a coding that", source: "RFC 9112, 6.1 and 6.3", comes: "malformed_request", form: `${HEAD}@\r\n\r\n${CHUNK}${END}` },
    {
      "comes with a length": "Content-Length: 5\r\nTransfer-Encoding: chunked",
      "comes before a length": "Transfer-Encoding: chunked\r\nContent-Length: 5",
      "comes with the length 0": "Transfer-Encoding: chunked\r\nContent-Length: 0",
      "comes with an invalid length": "Transfer-Encoding: chunked\r\nContent-Length: x",
      "is unknown": "Transfer-Encoding: xchunked",
      "is unknown, with an x at the end": "Transfer-Encoding: chunkedx",
      "is identity": "Transfer-Encoding: identity",
      "is gzip alone": "Transfer-Encoding: gzip",
      "is not chunked last": "Transfer-Encoding: chunked, identity",
      "is another one before chunked": "Transfer-Encoding: gzip, chunked",
      "is identity before chunked": "Transfer-Encoding: identity, chunked",
      "is chunked twice in a list": "Transfer-Encoding: chunked, chunked",
      "is empty": "Transfer-Encoding:",
      "is empty and comes with a length": "Transfer-Encoding:\r\nContent-Length: 5",
      "has a parameter": "Transfer-Encoding: chunked;a=b",
      "is quoted": 'Transfer-Encoding: "chunked"',
      "has a space in it": "Transfer-Encoding: chu nked",
      "has a letter that looks like its own": "Transfer-Encoding: chun\u00e2\u0084\u00aaed",
      "has a vertical tab before it": "Transfer-Encoding:\vchunked",
      "has a vertical tab after it": "Transfer-Encoding: chunked\v",
      "has a NUL after it": "Transfer-Encoding: chunked\0",
      "has a byte above 0x7f before it": "Transfer-Encoding: \u00a0chunked",
      "has a byte above 0x7f after it": "Transfer-Encoding: chunked\u00ff",
      "is duplicated": "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
      "is duplicated, once unknown": "Transfer-Encoding: chunked\r\nTransfer-Encoding: x",
      "is duplicated, once as identity": "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked",
      "is duplicated, once in another case": "Transfer-Encoding: identity\r\ntransfer-encoding: chunked",
      "has a space before its colon": "Transfer-Encoding : chunked",
      "has a space before its colon and comes with a length": "Transfer-Encoding : chunked\r\nContent-Length: 5",
      "has a tab before its colon": "Transfer-Encoding\t: chunked",
      "has a byte above 0x7f before its colon": "Transfer-Encoding\u00ff: chunked",
      "is folded to a second line": "Transfer-Encoding:\r\n chunked",
      "is in a folded line": "X: a\r\n Transfer-Encoding: chunked",
      "comes after a bare CR": "X: a\rTransfer-Encoding: chunked",
      "comes after a bare LF and comes with a length": "X: a\nTransfer-Encoding: chunked\r\nContent-Length: 5",
      "has its colon on the next line": "Transfer-Encoding\r\n: chunked",
    },
  ),
  group(
    {
      of: "a coding in HTTP/1.0",
      source: "RFC 9112, 6.1",
      comes: "malformed_request",
      form: `${CODED.replace("/1.1", "/1.0").replace("Transfer", "@Transfer")}${CHUNK}${END}`,
    },
    { alone: "", "with a length": "Content-Length: 5\r\n" },
  ),
  group(
    { of: "a body in chunks with", source: "RFC 9112, 7.1", comes: "malformed_request", form: `${CODED}@` },
    {
      "a size with a minus": `-${CHUNK}${END}`,
      "a size with a plus": `+${CHUNK}${END}`,
      "a size with 0x": `0x${CHUNK}${END}`,
      "a size with an h": `<s>h\r\n<b>\r\n${END}`,
      "a size in quotes": `"<s>"\r\n<b>\r\n${END}`,
      "a space before the size": ` ${CHUNK}${END}`,
      "a space in the size": `1 ${CHUNK}${END}`,
      "a space after the size": `<s> \r\n<b>\r\n${END}`,
      "an underscore in the size": `0_${CHUNK}${END}`,
      "no size": `\r\n<b>\r\n${END}`,
      "no size, but an extension": `;a=b\r\n<b>\r\n${END}`,
      "a size that is not a number": `g\r\n<b>\r\n${END}`,
      "a size beyond 64 bits": `100000000000000${CHUNK}${END}`,
      "a size of 400 digits": `${"f".repeat(400)}\r\n<b>\r\n${END}`,
      "a size with a NUL": `<s>\0\r\n<b>\r\n${END}`,
      "a size with a byte above 0x7f": `<s>\u00ff\r\n<b>\r\n${END}`,
      "a size that ends in a bare LF": `<s>\n<b>\r\n${END}`,
      "a size that ends in a bare CR": `<s>\r<b>\r\n${END}`,
      "a size that ends in CR CR LF": `<s>\r\r\n<b>\r\n${END}`,
      "an extension with a bare LF": `<s>;a\nb\r\n<b>\r\n${END}`,
      "an extension that ends in a bare LF": `<s>;a\n<b>\r\n${END}`,
      "an extension with a bare CR": `<s>;a\rb\r\n<b>\r\n${END}`,
      "an extension with a NUL": `<s>;a\0b\r\n<b>\r\n${END}`,
      "an extension of 20 KB": `<s>;${"a".repeat(20_000)}\r\n<b>\r\n${END}`,
      "more bytes than the size": `<s>\r\n<b>x\r\n${END}`,
      "no line end after the bytes": `<s>\r\n<b>${END}`,
      "two letters for the line end after the bytes": `<s>\r\n<b>XX${END}`,
      "a bare LF after the bytes": `<s>\r\n<b>\n${END}`,
      "a bare CR after the bytes": `<s>\r\n<b>\r${END}`,
      "LF CR after the bytes": `<s>\r\n<b>\n\r${END}`,
      "bare LF everywhere": "<s>\n<b>\n0\n\n",
      "a last chunk with a minus": `${CHUNK}-${END}`,
      "a last chunk with 0x": `${CHUNK}0x${END}`,
      "bare LFs after the last chunk": `${CHUNK}0\n\n`,
      "two letters after the last chunk": `${CHUNK}0\r\nXX`,
      "a bare LF after the last chunk": `${CHUNK}0\r\n\n`,
      "a bare CR after the last chunk": `${CHUNK}0\r\n\r`,
      "no empty line after the last chunk": `${CHUNK}0\r\n`,
      "a trailer without a colon": `${CHUNK}0\r\nX\r\n\r\n`,
      "a trailer with a bare LF": `${CHUNK}0\r\nX: y\n\r\n`,
      "a trailer with a space before its colon": `${CHUNK}0\r\nX : y\r\n\r\n`,
      "a folded trailer": `${CHUNK}0\r\nX: y\r\n z\r\n\r\n`,
      "trailers of 9 KB": `${CHUNK}0\r\n${`X: ${"y".repeat(1000)}\r\n`.repeat(9)}\r\n`,
    },
  ),
  group(
    { of: "a header with", source: "RFC 9110, 5.5 and 5.6.2; RFC 9112, 5", comes: "malformed_request", form: `${HEAD}@\r\n${SIZED}` },
    {
      "a folded line": "X: a\r\n b",
      "a line folded with a tab": "X: a\r\n\tb",
      "a folded line of white space": "X: a\r\n \r\nY: b",
      "a space before its colon": "X : a",
      "no colon": "foo",
      "no name": ": foo",
      "a line of white space": " ",
      "a bare CR in its value": "X: a\rb",
      "a bare CR at the end of its value": "X: a\r",
      "a bare LF in its value": "X: a\nb",
      "a bare LF between two lines": "X: a\nY: b",
      "a NUL in its value": "X: a\0b",
      "0x01 in its value": "X: a\u0001b",
      "0x1b in its value": "X: a\u001bb",
      "a vertical tab in its value": "X: a\vb",
      ...Object.fromEntries(
        Array.from('"(),/;<=>?@[\\]{} \t\0\u0001\u007f\u0080\u00ff', (byte) => [
          `0x${byte.charCodeAt(0).toString(16)} in its name`,
          `X${byte}Y: a`,
        ]),
      ),
    },
  ),
  group(
    { of: "a request line with", source: "RFC 9112, 3", comes: "malformed_request", form: `@\r\n${HOST}${LOGIN}${SIZED}` },
    {
      "two spaces before the path": "POST  /plants HTTP/1.1",
      "two spaces after the path": "POST /plants  HTTP/1.1",
      tabs: "POST\t/plants\tHTTP/1.1",
      "vertical tabs": "POST\v/plants\vHTTP/1.1",
      "a space in front": " POST /plants HTTP/1.1",
      "a space at the end": "POST /plants HTTP/1.1 ",
      "a tab at the end": "POST /plants HTTP/1.1\t",
      "a word at the end": "POST /plants HTTP/1.1 x",
      "a bare CR at the end": "POST /plants HTTP/1.1\r",
      "a bare LF in front": "\nPOST /plants HTTP/1.1",
      "a bare CR in front": "\rPOST /plants HTTP/1.1",
      "a NUL in front": "\0POST /plants HTTP/1.1",
      "no version": "POST /plants",
      "no path": "POST HTTP/1.1",
      "an empty path": "POST  HTTP/1.1",
      "the version 1.": "POST /plants HTTP/1.",
      "the version 1,1": "POST /plants HTTP/1,1",
      "the version 1.x": "POST /plants HTTP/1.x",
      "the version in small letters": "POST /plants http/1.1",
      "another protocol": "POST /plants HTTPS/1.1",
      "a path without its slash": "POST plants HTTP/1.1",
      "a backslash for the slash": "POST \\plants HTTP/1.1",
      "0x01 in the path": "POST /plants\u0001 HTTP/1.1",
      "a NUL in the path": "POST /plants\0 HTTP/1.1",
      "a bare CR in the path": "POST /pla\rnts HTTP/1.1",
      "a bare LF in the path": "POST /pla\nnts HTTP/1.1",
      "a method with a NUL": "POST\0 /plants HTTP/1.1",
      "a method with a byte above 0x7f": "POST\u00ff /plants HTTP/1.1",
      "a method with a colon": "POST: /plants HTTP/1.1",
      "no method": " /plants HTTP/1.1",
      "* for the path": "POST * HTTP/1.1",
      "the name of a host for the path": "POST plants:80 HTTP/1.1",
      "an absolute form of another scheme": "POST ftp://plants/plants HTTP/1.1",
    },
  ),
  group(
    {
      of: "the version",
      source: "RFC 9110, 2.5 and 15.6.6",
      comes: "unsupported_version",
      form: `POST /plants HTTP/@\r\n${HOST}${LOGIN}${SIZED}`,
    },
    { "0.9": "0.9", "1.10": "1.10", "01.1": "01.1", 1: "1", "2.0": "2.0", "2.1": "2.1", 3: "3" },
  ),
  group(
    { of: "the method", source: "RFC 9110, 9.1", comes: "unknown_method", form: `@ HTTP/1.1\r\n${HOST}${LOGIN}${SIZED}` },
    {
      ...Object.fromEntries(["post", "PLANT", "BREW", "PROPFIND", "M-SEARCH", "A"].map((name) => [name, `${name} /plants`])),
      get: "get /plants/1",
      "of 200 letters": `${"X".repeat(200)} /plants`,
    },
  ),
  group(
    { of: "a Host with", source: "RFC 9110, 7.2; RFC 9112, 3.2", comes: "invalid_host", form: `${LINE}@${LOGIN}${SIZED}` },
    {
      "no line": "",
      "two lines": "Host: plants\r\nHost: others\r\n",
      "two lines that are equal": "Host: plants\r\nHost: plants\r\n",
      "two lines, in another case": "Host: plants\r\nhOST: others\r\n",
      "two lines, one of them empty": "Host: plants\r\nHost:\r\n",
      "two lines, the first of them empty": "Host:\r\nHost: plants\r\n",
      "two lines that are empty": "Host:\r\nHost:\r\n",
      "a space in it": "Host: pla nts\r\n",
      "a list": "Host: plants, others\r\n",
      "a path after it": "Host: plants/x\r\n",
      "a query after it": "Host: plants?x\r\n",
      "a fragment after it": "Host: plants#x\r\n",
      "a user before it": "Host: user@plants\r\n",
      "a scheme before it": "Host: http://plants\r\n",
      "a port that is not a number": "Host: plants:http\r\n",
      "a port with a sign": "Host: plants:+80\r\n",
      "a port above 65535": "Host: plants:65536\r\n",
      "a port of a hundred digits": `Host: plants:${"9".repeat(100)}\r\n`,
      "an empty port": "Host: plants:\r\n",
      "nothing in it": "Host:\r\n",
      "two ports": "Host: plants:80:80\r\n",
      "a backslash": "Host: pla\\nts\r\n",
      "a quote": 'Host: pla"nts\r\n',
      "a bracket": "Host: pla<nts\r\n",
      "a broken escape": "Host: pla%zznts\r\n",
      "an address of IPv6 that does not end": "Host: [::1\r\n",
      "an address of IPv6 without brackets": "Host: ::1\r\n",
      "text after an address of IPv6": "Host: [::1]x\r\n",
      "a tab in it": "Host: pla\tnts\r\n",
      "a byte above 0x7f": "Host: pl\u00e4nts\r\n",
    },
  ),
  group(
    {
      of: "an absolute form",
      source: "RFC 9110, 4.2.1 and 7.2",
      comes: "invalid_host",
      form: `POST @ HTTP/1.1\r\n${HOST}${LOGIN}${SIZED}`,
    },
    {
      "without a host": "http:///plants",
      "with a port above 65535": "http://plants:65536/plants",
      "with a user": "http://user@plants/plants",
    },
  ),
  group(
    { of: "a request without a Host, refused for that first:", source: "RFC 9112, 3.2", comes: "invalid_host", form: "@ HTTP/1.1\r\n\r\n" },
    { "an unknown method": "FOO /", "a path without its slash": "GET nothing" },
  ),
  group(
    { of: "two Hosts", source: "RFC 9112, 3.2", comes: "invalid_host", form: `GET @ HTTP/1.1\r\n${HOST}Host: others\r\n\r\n` },
    { "at a path without a token": "/livez", "at a path that does not exist": "/nothing", "at the page": "/" },
  ),
  group(
    { of: "a head", source: "RFC 9112, 2.2", comes: "malformed_request", form: "@" },
    {
      "all of whose lines end in bare LF": (HEAD + SIZED).replaceAll("\r\n", "\n"),
      "all of whose lines end in bare CR": (HEAD + SIZED).replaceAll("\r\n", "\r"),
      "that ends in CR LF LF": (HEAD + SIZED).replace("\r\n\r\n", "\r\n\n"),
      "that ends in LF LF": (HEAD + SIZED).replace("\r\n\r\n", "\n\n"),
      "that ends in LF CR LF": (HEAD + SIZED).replace("\r\n\r\n", "\n\r\n"),
      "that ends in CR LF CR": (HEAD + SIZED).replace("\r\n\r\n", "\r\n\r"),
      "with a space before its first header": (HEAD + SIZED).replace("\r\nHost", "\r\n Host"),
      "with a broken line end before its first header": (HEAD + SIZED).replace("\r\nHost", "\r\r\nHost"),
      "that is no HTTP at all": "garbage\r\n\r\n",
      "of HTTP/0.9": "GET /plants\r\n",
      "after two empty lines": `\r\n\r\n${HEAD}${SIZED}`,
      "that begins like TLS": "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003",
    },
  ),
  group(
    { of: "a head", source: "RFC 9112, 2.3; RFC 6585, 5", comes: "head_too_large", form: `GET /livez HTTP/1.1\r\n${HOST}@\r\n` },
    {
      "of one byte more than 16 KiB": `X: ${"x".repeat(16_385 - 42)}\r\n`,
      "of 70 KB": `X: ${"x".repeat(70_000)}\r\n`,
      "of 199 headers": "X: y\r\n".repeat(198),
    },
  ),
  group(
    { of: "a head", source: "RFC 9112, 2.3", comes: "answered", form: `GET /livez HTTP/1.1\r\n${HOST}@\r\n` },
    { "of 16 KiB": `X: ${"x".repeat(16_384 - 42)}\r\n`, "of 198 headers": "X: y\r\n".repeat(197) },
  ),
  group(
    { of: "a body that", source: "RFC 9110, 15.5.14", comes: "body_too_large", form: `${HEAD}@` },
    {
      "is longer than 32 bits can say": "Content-Length: 42949672<n>\r\n\r\n<b>",
      "is too large, in chunks": `Transfer-Encoding: chunked\r\n\r\n${`10000\r\n${"x".repeat(65_536)}\r\n`.repeat(2)}${END}`,
      "is refused before it has come": `Content-Length: 1000000\r\n\r\n${"x".repeat(100_000)}<wait>${"x".repeat(900_000)}`,
    },
  ),
  // From here on they are good, in forms that are easily misread: the request after each must be understood just as well.
  group(
    { of: "a length that", source: "RFC 9110, 8.6", comes: "created", form: `${HEAD}@\r\n\r\n<b>` },
    {
      "is duplicated and is equal": "Content-Length: <n>\r\nContent-Length: <n>",
      "has a tab before it and white space after it": "Content-Length:\t<n>\t ",
      "has no space before it": "Content-Length:<n>",
      "has zeros in front": "Content-Length: 000<n>",
      "is written in capitals": "CONTENT-LENGTH: <n>",
    },
  ),
  group(
    {
      of: "a coding that",
      source: "RFC 9110, 5.6.1; RFC 9112, 7",
      comes: "created",
      form: `${HEAD}Transfer-Encoding: @\r\n\r\n${CHUNK}${END}`,
    },
    {
      "is chunked": "chunked",
      "is written in capitals": "CHUNKED",
      "has tabs around it": "\tChunked\t ",
      "has an empty element after it": "chunked,",
      "has empty elements before it": ", ,chunked",
    },
  ),
  group(
    { of: "a body in chunks with", source: "RFC 9112, 7.1", comes: "created", form: `${CODED}@` },
    {
      "zeros before the size": `${"0".repeat(40)}${CHUNK}${END}`,
      "many zeros as last chunk": `${CHUNK}000${END}`,
      "an extension": `<s>;a=b\r\n<b>\r\n${END}`,
      "an extension without a name": `<s>;\r\n<b>\r\n${END}`,
      "an extension in quotes": `<s>;a="b;c"\r\n<b>\r\n0;d\r\n\r\n`,
      "an extension with a byte above 0x7f": `<s>;a=\u00ff\r\n<b>\r\n${END}`,
      "a trailer": `${CHUNK}0\r\nX: y\r\n\r\n`,
      "a length as trailer": `${CHUNK}0\r\nContent-Length: 5\r\n\r\n`,
      "a coding as trailer": `${CHUNK}0\r\nTransfer-Encoding: chunked\r\n\r\n`,
      "an end as trailer": `${CHUNK}0\r\nConnection: close\r\n\r\n`,
      "one byte in each": `<bytes>${END}`,
      "a last chunk that comes late": `${CHUNK}<wait>${END}`,
      "an end that comes late": `${CHUNK}0\r\n<wait>\r\n`,
      "trailers that come late": `${CHUNK}0\r\n<wait>X-Request-Id: trailer\r\n\r\n`,
      "trailers that come in two pieces": `${CHUNK}0\r\nX: <wait>y\r\n\r\n`,
    },
  ),
  group(
    { of: "a create", source: "RFC 9110, 2.5 and 10.1.1; RFC 9112, 2.2", comes: "created", form: `@${SIZED}` },
    {
      "of version 1.2": HEAD.replace("1.1", "1.2"),
      "of version 1.9": HEAD.replace("1.1", "1.9"),
      "after an empty line": `\r\n${HEAD}`,
      "that expects 100, and does not wait for it": `${HEAD}Expect: 100-continue\r\n`,
      "with an unknown expectation": `${HEAD}Expect: 200-ok\r\n`,
      "that would be upgraded to HTTP/2": `${HEAD}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n`,
      "that would be upgraded to a WebSocket": `${HEAD}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n`,
      "that names a header of its connection": `${HEAD}Connection: X-Request-Id\r\nX-Forwarded-For: 127.0.0.1\r\n`,
      "with a header of 15 KB": `${HEAD}X: ${"x".repeat(15_000)}\r\n`,
    },
  ),
  group(
    { of: "a create with", source: "RFC 9110, 5.5; RFC 9112, 2.2", comes: "created", form: `${HEAD}@` },
    {
      "an empty line at the end": `${SIZED}\r\n`,
      "a byte above 0x7f in a value": `X: \u00e4\u00ff\r\n${SIZED}`,
      "0x7f in a value": `X: a\u007fb\r\n${SIZED}`,
      "an empty value": `X:\r\n${SIZED}`,
      "a header twice": `X: a\r\nX: b\r\n${SIZED}`,
      "an underscore in what is no length": `Content_Length: 5\r\n${SIZED}`,
      "an underscore in what is no coding": `Transfer_Encoding: chunked\r\n${SIZED}`,
    },
  ),
  group(
    { of: "the Host", source: "RFC 9110, 7.2; RFC 3986, 3.2.2", comes: "created", form: `${LINE}Host: @\r\n${LOGIN}${SIZED}` },
    Object.fromEntries(
      "127.0.0.1:8080|plants:65535|[::1]:8080|[::ffff:127.0.0.1]|PLANTS.example.|my_host|xn--pflnzchen-02a|a%20b|a,b"
        .split("|")
        .map((host) => [host, host]),
    ),
  ),
  group(
    {
      of: "the target",
      source: "RFC 3986, 6.2.2.2; RFC 9112, 3.2.2",
      comes: "created",
      form: `POST @ HTTP/1.1\r\n${HOST}${LOGIN}${SIZED}`,
    },
    Object.fromEntries(
      "http://plants/plants|HTTP://others:80/plants|https://plants/plants|/%70lants|/plant%73|/%70%6c%61%6E%74%73"
        .split("|")
        .map((target) => [target, target]),
    ),
  ),
  group(
    {
      of: "a path that",
      source: "RFC 9112, 3.2; RFC 3986, 6.2.2",
      comes: "unknown_path",
      form: `POST @ HTTP/1.1\r\n${HOST}${LOGIN}${SIZED}`,
    },
    elsewhere("plants"),
  ),
  group(
    { of: "a request", source: "RFC 9110, 9.3.1 and 9.3.7", comes: "answered", form: "@" },
    {
      "for the options of the whole service": `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`,
      "to GET with a body": `GET /livez HTTP/1.1\r\n${HOST}${SIZED}`,
      "to GET with a body in chunks": `GET /livez HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n${CHUNK}${END}`,
      "to GET with the length 0": `GET /livez HTTP/1.1\r\n${HOST}Content-Length: 0\r\n\r\n`,
      "to GET with a request as its body": `GET /livez HTTP/1.1\r\n${HOST}Content-Length: 41\r\n\r\nGET /plants/1 HTTP/1.1\r\nHost: plants\r\n\r\nx`,
      "to HEAD with a body": `HEAD /livez HTTP/1.1\r\n${HOST}${SIZED}`,
    },
  ),
];

function group(how: Omit<Group, "rows">, rows: Group["rows"]): Group {
  return { ...how, rows };
}

export const CORPUS: readonly Entry[] = GROUPS.flatMap(({ of, source, form, comes, rows }) =>
  Object.entries(rows).map(([row, text]) => ({
    what: `${of} ${row}`,
    source,
    comes,
    isLast: !["created", "answered", "unknown_path"].includes(comes),
    packets: (plant, token) =>
      render(
        form.replace("@", () => text),
        plant,
        token,
      ),
  })),
);

/** Lines of a head that are invalid. */
export const INVALID_LINES: readonly string[] = GROUPS.filter(({ form }) => form.startsWith(`${HEAD}@\r\n`)).flatMap(({ comes, rows }) =>
  comes === "malformed_request" ? Object.values(rows).map((text) => text.replaceAll("<n>", "20")) : [],
);

function render(text: string, plant: string, token: string): string[] {
  const bytes = Array.from(plant, (byte) => `1\r\n${byte}\r\n`).join("");
  const parts = { "<n>": plant.length, "<s>": plant.length.toString(16), "<b>": plant, "<bytes>": bytes, "<token>": token };
  return text.replaceAll(/<(?:n|s|b|bytes|token)>/g, (name) => String(parts[name as keyof typeof parts])).split("<wait>");
}
