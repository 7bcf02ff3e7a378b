const UNTRUSTED = ["no one trusted here has signed its certificate", "name a file with its authority in NODE_EXTRA_CA_CERTS"] as const;

/** What codes of the operating system and of TLS mean, for people, and what to do about them. */
const FAILURES: Readonly<Record<string, readonly [what: string, todo: string]>> = {
  EACCES: ["this user may not use it", "run this as its owner, or name another one"],
  EPERM: ["this user may not do that", "run this as its owner, or name another one"],
  ENOENT: ["there is no such file or folder", "check its name"],
  ENOTDIR: ["a part of this path is a file, not a folder", "check its name"],
  EISDIR: ["it is a folder", "name a file in it"],
  ENAMETOOLONG: ["the name is too long", "name another one"],
  ELOOP: ["a link on the way leads back to itself", "name another one"],
  EROFS: ["the file system is read-only", "mount it for writing, or name another one"],
  ENOSPC: ["the disk is full", "make room, or name a file on another disk"],
  EDQUOT: ["the disk quota of this user is used up", "make room, or name a file on another disk"],
  EFBIG: ["the file is too large for its file system or a limit", "name a file on another disk"],
  ENOTCONN: ["the program behind this file system has ended", "mount it again"],
  ESTALE: ["the server of this file system no longer knows it", "mount it again"],
  EIO: ["the disk had an I/O error", "check it, and use another one"],
  EMFILE: ["too many files are open", "raise the limit of open files (ulimit -n)"],
  ENFILE: ["too many files are open on this machine", "end other programs"],
  EADDRINUSE: ["another program uses this port", "choose another one"],
  EADDRNOTAVAIL: ["this machine does not have this address", "choose one of its own"],
  ECONNREFUSED: ["nothing listens there", "check the address, and whether it is running"],
  ECONNRESET: ["the connection broke", "check whether it is running"],
  ENOTFOUND: ["no machine has this name", "check the address"],
  EAI_AGAIN: ["the name of the machine could not be looked up", "check the address and the network"],
  EHOSTUNREACH: ["there is no way to this machine", "check the address and the network"],
  ENETUNREACH: ["there is no way to this machine", "check the address and the network"],
  ETIMEDOUT: ["it does not answer", "check the address, and whether it is running"],
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  ERR_TLS_CERT_ALTNAME_INVALID: ["its certificate is for another name", "use a name that is in the certificate"],
  CERT_HAS_EXPIRED: ["its certificate has expired", "renew it"],
};

/** The code of an error of the system, if it has one. */
export function codeOf(reason: unknown): string | undefined {
  return reason instanceof Error && "code" in reason && typeof reason.code === "string" ? reason.code : undefined;
}

function failureOf(reason: unknown): (typeof FAILURES)[string] | undefined {
  return FAILURES[codeOf(reason) ?? ""];
}

/** What is wrong, in words and on one line, without a full stop. */
export function describeFailure(reason: unknown): string {
  return failureOf(reason)?.[0] ?? (reason instanceof Error ? reason.message : String(reason)).replaceAll(/\s+/g, " ");
}

/** What to do about it, without a full stop; undefined if this is no such failure. */
export function adviceOn(reason: unknown): string | undefined {
  return failureOf(reason)?.[1];
}

/** A whole sentence with what to do; undefined if this is no such failure. */
export function toSentence(reason: unknown): string | undefined {
  const failure = failureOf(reason);
  if (!failure) return undefined;
  const [what, todo] = failure;
  const { path } = reason as NodeJS.ErrnoException;
  return path === undefined ? `${what.charAt(0).toUpperCase()}${what.slice(1)}: ${todo}.` : `${path}: ${what}: ${todo}.`;
}
