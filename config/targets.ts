/**
 * Whether requests to a target may go by TLS: it says so, or names no transport, so that NAPTR (RFC 3263
 * section 4.1) or what is bound decides.
 */
export const mayUseTls = (target: string): boolean =>
  /^sips:/i.test(target) || !/;transport=(?!tls\b)/i.test(target)
