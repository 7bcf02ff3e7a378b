import type { Body } from "./body.ts";
import type { Head } from "./head.ts";

/** A request as the app gets it. */
export type HttpRequest = Omit<Head, "section"> &
  Readonly<{
    headers: Head["section"]["fields"];
    body: Body;
    /** Over HTTP/1.0: its response must not be a stream. */
    isHttp10: boolean;
    /** The IP address of the peer. */
    address: string;
    /**
     * How many seconds this request may be silent, while its body arrives and while its response is sent; 0 for no
     * limit.
     */
    allowSilence(seconds: number): void;
    /**
     * Whether the peer is gone, so that no one waits for the response. One that has sent all and closed its side may only
     * be asked: once, with an interim response, which breaks the connection if no one is there (RFC 9110, 15.2).
     */
    isGone(): boolean;
  }>;
