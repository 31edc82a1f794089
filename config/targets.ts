/**
 * Returns whether requests to a target may use TLS. Without a transport in the target, NAPTR (RFC 3263
 * section 4.1) or the bound transports decide.
 */
export const mayUseTls = (target: string): boolean =>
  /^sips:/i.test(target) || !/;transport=(?!tls\b)/i.test(target)
