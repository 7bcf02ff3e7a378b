/** A create in a certain form. A character is a byte. */
export type Framing = Readonly<{ why: string; bytes: (body: string) => string }>;

/** A placeholder for the token: a case is built before there is a service. */
export const TOKEN = "<token>";

const LINE = "POST /plants HTTP/1.1";
/** The head of a good create, except for its end. */
export const HEAD = `${LINE}\r\nHost: plants\r\nAuthorization: Bearer ${TOKEN}\r\n`;
/** The end of a head with a body in chunks. */
export const CODED = "Transfer-Encoding: chunked\r\n\r\n";

/** RFC 9112, 6.3 and 8.6 of RFC 9110: invalid lengths. `<n>` is the right one. */
const LENGTHS: ReadonlyArray<readonly [string, string]> = [
  ["is signed with a plus", "Content-Length: +<n>"],
  ["is signed with a minus", "Content-Length: -<n>"],
  ["is hexadecimal", "Content-Length: 0x<n>"],
  ["is two numbers", "Content-Length: <n> <n>"],
  ["is a list of two that differ", "Content-Length: <n>, 5"],
  ["is a list with nothing after its comma", "Content-Length: <n>,"],
  ["is a list with nothing before its comma", "Content-Length: ,<n>"],
  ["is empty", "Content-Length:"],
  ["is white space", "Content-Length: \t "],
  ["has a fraction", "Content-Length: <n>.0"],
  ["has an exponent", "Content-Length: <n>e0"],
  ["has a parameter", "Content-Length: <n>;a=b"],
  ["is quoted", 'Content-Length: "<n>"'],
  ["has an underscore", "Content-Length: <n>_0"],
  ["is written in digits of another script", "Content-Length: \u00d9\u00a2\u00d9\u00a0"],
  ["is beyond 32 bits", "Content-Length: 42949672<n>"],
  ["is beyond 64 bits", "Content-Length: 184467440737095516<n>"],
  ["is beyond all numbers", `Content-Length: ${"9".repeat(400)}`],
  ["has a vertical tab before it", "Content-Length:\v<n>"],
  ["has a form feed after it", "Content-Length: <n>\f"],
  ["has a NUL after it", "Content-Length: <n>\0"],
  ["has a byte above 0x7f after it", "Content-Length: <n>\u00ff"],
  ["has a byte above 0x7f before it", "Content-Length: \u00a0<n>"],
  ["is there twice and differs", "Content-Length: <n>\r\nContent-Length: 5"],
  ["is there twice and is 0 first", "Content-Length: 0\r\nContent-Length: <n>"],
  ["is there twice, once with an underscore for its minus", "Content_Length: 5\r\nContent-Length: +<n>"],
  ["has a space before its colon", "Content-Length : <n>"],
  ["has a tab before its colon", "Content-Length\t: <n>"],
  ["has a NUL before its colon", "Content-Length\0: <n>"],
  ["has a byte above 0x7f before its colon", "Content-Length\u00ff: <n>"],
  ["has a byte above 0x7f before its name", "\u00ffContent-Length: <n>"],
  ["is folded to a second line", "Content-Length:\r\n <n>"],
  ["is in a folded line", "X: a\r\n Content-Length: <n>"],
  ["comes after a bare CR", "X: a\rContent-Length: <n>"],
  ["comes after a bare CR and differs", "Content-Length: 5\rContent-Length: <n>"],
  ["comes after a bare LF and differs", "X: a\nContent-Length: <n>\r\nContent-Length: 5"],
];

const CODINGS: ReadonlyArray<readonly [string, string]> = [
  ["comes with a length", "Content-Length: 5\r\nTransfer-Encoding: chunked"],
  ["comes before a length", "Transfer-Encoding: chunked\r\nContent-Length: 5"],
  ["comes with the length 0", "Transfer-Encoding: chunked\r\nContent-Length: 0"],
  ["comes with an invalid length", "Transfer-Encoding: chunked\r\nContent-Length: x"],
  ["is unknown", "Transfer-Encoding: xchunked"],
  ["is unknown, with an x at the end", "Transfer-Encoding: chunkedx"],
  ["is identity", "Transfer-Encoding: identity"],
  ["is gzip alone", "Transfer-Encoding: gzip"],
  ["is not chunked last", "Transfer-Encoding: chunked, identity"],
  ["is another one before chunked", "Transfer-Encoding: gzip, chunked"],
  ["is identity before chunked", "Transfer-Encoding: identity, chunked"],
  ["is chunked twice in a list", "Transfer-Encoding: chunked, chunked"],
  ["is empty", "Transfer-Encoding:"],
  ["is empty and comes with a length", "Transfer-Encoding:\r\nContent-Length: 5"],
  ["has a parameter", "Transfer-Encoding: chunked;a=b"],
  ["is quoted", 'Transfer-Encoding: "chunked"'],
  ["has a space in it", "Transfer-Encoding: chu nked"],
  ["has a vertical tab before it", "Transfer-Encoding:\vchunked"],
  ["has a vertical tab after it", "Transfer-Encoding: chunked\v"],
  ["has a NUL after it", "Transfer-Encoding: chunked\0"],
  ["has a byte above 0x7f before it", "Transfer-Encoding: \u00a0chunked"],
  ["has a byte above 0x7f after it", "Transfer-Encoding: chunked\u00ff"],
  ["is there twice", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"],
  ["is there twice, once unknown", "Transfer-Encoding: chunked\r\nTransfer-Encoding: x"],
  ["is there twice, once as identity", "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked"],
  ["is there twice, once in another case", "Transfer-Encoding: identity\r\ntransfer-encoding: chunked"],
  ["has a space before its colon", "Transfer-Encoding : chunked"],
  ["has a space before its colon and comes with a length", "Transfer-Encoding : chunked\r\nContent-Length: 5"],
  ["has a tab before its colon", "Transfer-Encoding\t: chunked"],
  ["has a byte above 0x7f before its colon", "Transfer-Encoding\u00ff: chunked"],
  ["has an underscore for its minus", "Transfer_Encoding: chunked"],
  ["is folded to a second line", "Transfer-Encoding:\r\n chunked"],
  ["is in a folded line", "X: a\r\n Transfer-Encoding: chunked"],
  ["comes after a bare CR", "X: a\rTransfer-Encoding: chunked"],
  ["comes after a bare LF and comes with a length", "X: a\nTransfer-Encoding: chunked\r\nContent-Length: 5"],
  ["has its colon on the next line", "Transfer-Encoding\r\n: chunked"],
];

/** Bodies in chunks. `<s>` is the right size, `<b>` are the right bytes. */
const CHUNKS: ReadonlyArray<readonly [string, string]> = [
  ["a size with a minus", "-<s>\r\n<b>\r\n0\r\n\r\n"],
  ["a size with a plus", "+<s>\r\n<b>\r\n0\r\n\r\n"],
  ["a size with 0x", "0x<s>\r\n<b>\r\n0\r\n\r\n"],
  ["a size with an h", "<s>h\r\n<b>\r\n0\r\n\r\n"],
  ["a size in quotes", '"<s>"\r\n<b>\r\n0\r\n\r\n'],
  ["a space before the size", " <s>\r\n<b>\r\n0\r\n\r\n"],
  ["a space in the size", "1 <s>\r\n<b>\r\n0\r\n\r\n"],
  ["an underscore in the size", "0_<s>\r\n<b>\r\n0\r\n\r\n"],
  ["no size", "\r\n<b>\r\n0\r\n\r\n"],
  ["no size, but an extension", ";a=b\r\n<b>\r\n0\r\n\r\n"],
  ["a size that is not a number", "g\r\n<b>\r\n0\r\n\r\n"],
  ["a size beyond 32 bits", `1000000<s>\r\n<b>${"x".repeat(70_000)}`],
  ["a size beyond 64 bits", "100000000000000<s>\r\n<b>\r\n0\r\n\r\n"],
  ["a size of 400 digits", `${"f".repeat(400)}\r\n<b>\r\n0\r\n\r\n`],
  ["a size with a NUL", "<s>\0\r\n<b>\r\n0\r\n\r\n"],
  ["a size with a byte above 0x7f", "<s>\u00ff\r\n<b>\r\n0\r\n\r\n"],
  ["a size that ends in a bare LF", "<s>\n<b>\r\n0\r\n\r\n"],
  ["a size that ends in a bare CR", "<s>\r<b>\r\n0\r\n\r\n"],
  ["a size that ends in CR CR LF", "<s>\r\r\n<b>\r\n0\r\n\r\n"],
  ["an extension with a bare LF", "<s>;a\nb\r\n<b>\r\n0\r\n\r\n"],
  ["an extension that ends in a bare LF", "<s>;a\n<b>\r\n0\r\n\r\n"],
  ["an extension with a bare CR", "<s>;a\rb\r\n<b>\r\n0\r\n\r\n"],
  ["an extension with a NUL", "<s>;a\0b\r\n<b>\r\n0\r\n\r\n"],
  ["an extension of 20 KB", `<s>;${"a".repeat(20_000)}\r\n<b>\r\n0\r\n\r\n`],
  ["more bytes than the size", "<s>\r\n<b>x\r\n0\r\n\r\n"],
  ["no line end after the bytes", "<s>\r\n<b>0\r\n\r\n"],
  ["two letters for the line end after the bytes", "<s>\r\n<b>XX0\r\n\r\n"],
  ["a bare LF after the bytes", "<s>\r\n<b>\n0\r\n\r\n"],
  ["a bare CR after the bytes", "<s>\r\n<b>\r0\r\n\r\n"],
  ["LF CR after the bytes", "<s>\r\n<b>\n\r0\r\n\r\n"],
  ["bare LF everywhere", "<s>\n<b>\n0\n\n"],
  ["a last chunk with a minus", "<s>\r\n<b>\r\n-0\r\n\r\n"],
  ["a last chunk with 0x", "<s>\r\n<b>\r\n0x0\r\n\r\n"],
  ["bare LFs after the last chunk", "<s>\r\n<b>\r\n0\n\n"],
];

/** Invalid header lines. */
const FIELDS: ReadonlyArray<readonly [string, string]> = [
  ["a folded line", "X: a\r\n b"],
  ["a line folded with a tab", "X: a\r\n\tb"],
  ["a folded line of white space", "X: a\r\n \r\nY: b"],
  ["a space before its colon", "X : a"],
  ["no colon", "foo"],
  ["no name", ": foo"],
  ["a line of white space", " "],
  ["a bare CR in its value", "X: a\rb"],
  ["a bare CR at the end of its value", "X: a\r"],
  ["a bare LF in its value", "X: a\nb"],
  ["a bare LF between two lines", "X: a\nY: b"],
  ["a NUL in its value", "X: a\0b"],
  ["0x01 in its value", "X: a\u0001b"],
  ["0x1b in its value", "X: a\u001bb"],
  ["a vertical tab in its value", "X: a\vb"],
  ...Array.from('"(),/;<=>?@[\\]{} \t\0\u0001\u007f\u0080\u00ff', (byte): readonly [string, string] => [
    `0x${byte.charCodeAt(0).toString(16).padStart(2, "0")} in its name`,
    `X${byte}Y: a`,
  ]),
];

/** Invalid request lines; each with the rest of a good create. */
const LINES: ReadonlyArray<readonly [string, string]> = [
  ["two spaces before the path", "POST  /plants HTTP/1.1"],
  ["two spaces after the path", "POST /plants  HTTP/1.1"],
  ["tabs", "POST\t/plants\tHTTP/1.1"],
  ["vertical tabs", "POST\v/plants\vHTTP/1.1"],
  ["a space in front", " POST /plants HTTP/1.1"],
  ["a space at the end", "POST /plants HTTP/1.1 "],
  ["a tab at the end", "POST /plants HTTP/1.1\t"],
  ["a word at the end", "POST /plants HTTP/1.1 x"],
  ["a bare CR at the end", "POST /plants HTTP/1.1\r"],
  ["a bare LF in front", "\nPOST /plants HTTP/1.1"],
  ["a bare CR in front", "\rPOST /plants HTTP/1.1"],
  ["a NUL in front", "\0POST /plants HTTP/1.1"],
  ["no version", "POST /plants"],
  ["no path", "POST HTTP/1.1"],
  ["an empty path", "POST  HTTP/1.1"],
  ["the version 0.9", "POST /plants HTTP/0.9"],
  ["the version 1.10", "POST /plants HTTP/1.10"],
  ["the version 01.1", "POST /plants HTTP/01.1"],
  ["the version 1.", "POST /plants HTTP/1."],
  ["the version 1", "POST /plants HTTP/1"],
  ["the version 1,1", "POST /plants HTTP/1,1"],
  ["the version 2.0", "POST /plants HTTP/2.0"],
  ["the version 3", "POST /plants HTTP/3"],
  ["the version in small letters", "POST /plants http/1.1"],
  ["another protocol", "POST /plants HTTPS/1.1"],
  ["a path without its slash", "POST plants HTTP/1.1"],
  ["a backslash for the slash", "POST \\plants HTTP/1.1"],
  ["0x01 in the path", "POST /plants\u0001 HTTP/1.1"],
  ["a NUL in the path", "POST /plants\0 HTTP/1.1"],
  ["a bare CR in the path", "POST /pla\rnts HTTP/1.1"],
  ["a bare LF in the path", "POST /pla\nnts HTTP/1.1"],
  ["a method with a NUL", "POST\0 /plants HTTP/1.1"],
  ["a method with a byte above 0x7f", "POST\u00ff /plants HTTP/1.1"],
  ["a method with a colon", "POST: /plants HTTP/1.1"],
  ["no method", " /plants HTTP/1.1"],
  ["* for the path", "POST * HTTP/1.1"],
  ["the name of a host for the path", "POST plants:80 HTTP/1.1"],
  ["an absolute form of another scheme", "POST ftp://plants/plants HTTP/1.1"],
  ["an absolute form without a host", "POST http:///plants HTTP/1.1"],
  ["an absolute form with a port above 65535", "POST http://plants:65536/plants HTTP/1.1"],
  ["an absolute form with a user", "POST http://user@plants/plants HTTP/1.1"],
  ["the preface of HTTP/2", "PRI * HTTP/2.0"],
];

/** RFC 9112, 3.2: none, more than one, or an invalid one is answered 400. */
const HOSTS: ReadonlyArray<readonly [string, string]> = [
  ["none", ""],
  ["two", "Host: plants\r\nHost: others\r\n"],
  ["two that are equal", "Host: plants\r\nHost: plants\r\n"],
  ["two, in another case", "Host: plants\r\nhOST: others\r\n"],
  ["two, one of them empty", "Host: plants\r\nHost:\r\n"],
  ["two, the first of them empty", "Host:\r\nHost: plants\r\n"],
  ["two that are empty", "Host:\r\nHost:\r\n"],
  ["a space in it", "Host: pla nts\r\n"],
  ["a list", "Host: plants, others\r\n"],
  ["a path after it", "Host: plants/x\r\n"],
  ["a query after it", "Host: plants?x\r\n"],
  ["a fragment after it", "Host: plants#x\r\n"],
  ["a user before it", "Host: user@plants\r\n"],
  ["a scheme before it", "Host: http://plants\r\n"],
  ["a port that is not a number", "Host: plants:http\r\n"],
  ["a port with a sign", "Host: plants:+80\r\n"],
  ["a port above 65535", "Host: plants:65536\r\n"],
  ["a port of a hundred digits", `Host: plants:${"9".repeat(100)}\r\n`],
  ["an empty port", "Host: plants:\r\n"],
  ["nothing in it", "Host:\r\n"],
  ["two ports", "Host: plants:80:80\r\n"],
  ["a backslash", "Host: pla\\nts\r\n"],
  ["a quote", 'Host: pla"nts\r\n'],
  ["a bracket", "Host: pla<nts\r\n"],
  ["a broken escape", "Host: pla%zznts\r\n"],
  ["an address of IPv6 that does not end", "Host: [::1\r\n"],
  ["an address of IPv6 without brackets", "Host: ::1\r\n"],
  ["text after an address of IPv6", "Host: [::1]x\r\n"],
  ["a tab in it", "Host: pla\tnts\r\n"],
  ["0x01 in it", "Host: pla\u0001nts\r\n"],
  ["a NUL in it", "Host: pla\0nts\r\n"],
  ["a byte above 0x7f", "Host: pl\u00e4nts\r\n"],
];

/** The fault comes only after the last chunk. */
const ENDS: ReadonlyArray<readonly [string, string]> = [
  ["two letters after the last chunk", "<s>\r\n<b>\r\n0\r\nXX"],
  ["a bare LF after the last chunk", "<s>\r\n<b>\r\n0\r\n\n"],
  ["a bare CR after the last chunk", "<s>\r\n<b>\r\n0\r\n\r"],
  ["no empty line after the last chunk", "<s>\r\n<b>\r\n0\r\n"],
  ["a trailer without a colon", "<s>\r\n<b>\r\n0\r\nX\r\n\r\n"],
  ["a trailer with a bare LF", "<s>\r\n<b>\r\n0\r\nX: y\n\r\n"],
  ["a trailer with a space before its colon", "<s>\r\n<b>\r\n0\r\nX : y\r\n\r\n"],
  ["a folded trailer", "<s>\r\n<b>\r\n0\r\nX: y\r\n z\r\n\r\n"],
  ["trailers of 9 KB", `<s>\r\n<b>\r\n0\r\n${`X: ${"y".repeat(1000)}\r\n`.repeat(9)}\r\n`],
];

/** Unknown methods. */
const METHODS: ReadonlyArray<readonly [string, string]> = [
  ["a method in small letters", "post /plants HTTP/1.1"],
  ["an unknown method", "PLANT /plants HTTP/1.1"],
];

/** The line ends of the whole head. */
const HEAD_ENDS: ReadonlyArray<readonly [string, string | RegExp, string]> = [
  ["all of whose lines end in bare LF", /\r\n/g, "\n"],
  ["all of whose lines end in bare CR", /\r\n/g, "\r"],
  ["that ends in CR LF LF", "\r\n\r\n", "\r\n\n"],
  ["that ends in LF LF", "\r\n\r\n", "\n\n"],
  ["that ends in LF CR LF", "\r\n\r\n", "\n\r\n"],
  ["that ends in CR LF CR", "\r\n\r\n", "\r\n\r"],
  ["with a space before its first header", "\r\nHost", "\r\n Host"],
  ["with a broken line end before its first header", "\r\nHost", "\r\r\nHost"],
];

const NO_HTTP: ReadonlyArray<readonly [string, string]> = [
  ["no HTTP at all", "garbage\r\n\r\n"],
  ["a request of HTTP/0.9", "GET /plants\r\n"],
  ["two empty lines in front", "\r\n\r\nGET /livez HTTP/1.1\r\nHost: plants\r\n\r\n"],
  ["the first bytes of TLS", "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003"],
];

/** What is refused: it is not executed, it is answered 4xx or 505, and the connection is closed. */
export const REFUSED: readonly Framing[] = [
  ...LENGTHS.map(([why, lines]) =>
    framing(`a length that ${why}`, (body) => `${HEAD}${lines.replaceAll("<n>", String(body.length))}\r\n\r\n${body}`),
  ),
  ...CODINGS.map(([why, lines]) => framing(`a coding that ${why}`, (body) => `${HEAD}${lines}\r\n\r\n${inChunks(body)}`)),
  ...["", "Content-Length: 5\r\n"].map((length) =>
    framing(
      `a coding in HTTP/1.0${length && " with a length"}`,
      (body) => `${HEAD.replace("/1.1", "/1.0")}${length}${CODED}${inChunks(body)}`,
    ),
  ),
  ...[...CHUNKS, ...ENDS].map(([why, text]) => framing(`a body in chunks with ${why}`, (body) => `${HEAD}${CODED}${inChunks(body, text)}`)),
  ...FIELDS.map(([why, line]) => framing(`a header with ${why}`, (body) => `${HEAD}${line}\r\n${sized(body)}`)),
  ...LINES.map(([why, line]) => framing(`a request line with ${why}`, (body) => `${HEAD.replace(LINE, line)}${sized(body)}`)),
  ...HOSTS.map(([why, lines]) => framing(`Host: ${why}`, (body) => `${HEAD.replace("Host: plants\r\n", lines)}${sized(body)}`)),
  ...HEAD_ENDS.map(([why, from, to]) => framing(`a head ${why}`, (body) => `${HEAD}${sized(body)}`.replace(from, to))),
  ...NO_HTTP.map(([why, text]) => framing(why, () => text)),
];

/** What is answered 501. */
export const UNKNOWN: readonly Framing[] = METHODS.map(([why, line]) =>
  framing(why, (body) => `${HEAD.replace(LINE, line)}${sized(body)}`),
);

function framing(why: string, bytes: (body: string) => string): Framing {
  return { why, bytes };
}

/** The rest of a request with a good head. */
export function sized(body: string): string {
  return `Content-Length: ${body.length}\r\n\r\n${body}`;
}

/** A body in one chunk, or in the chunks of this template. */
export function inChunks(body: string, text = "<s>\r\n<b>\r\n0\r\n\r\n"): string {
  return text.replaceAll("<s>", body.length.toString(16)).replaceAll("<b>", body);
}
