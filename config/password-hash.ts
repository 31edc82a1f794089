/** Beginning of every hash. A password cannot begin with it. */
const prefix = 'scrypt$'

/**
 * scrypt (RFC 7914) with 16 or 32 MiB, a salt of 16 bytes and a key of 32 bytes. Other costs are rejected: a
 * sign-in would fail for lack of memory, or the hash would be weak.
 */
const form = /^scrypt\$(?:16384|32768)\$8\$1\$[\w-]{22}\$[\w-]{43}$/

/** Whether a text is a hash that `trunkline hash-password` prints. */
export const isPasswordHash = (text: string): boolean => form.test(text)

/** Whether a text is a valid value for a password in the configuration: a password, or a whole hash. */
export const isPasswordOrHash = (text: string): boolean => !text.startsWith(prefix) || isPasswordHash(text)
