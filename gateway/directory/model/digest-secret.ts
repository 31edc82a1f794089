import { createHash } from 'node:crypto'

/** Secret that verifies digest responses (RFC 8760): HA1 for each algorithm, in hex. Never shown. */
export interface DigestSecret {
  readonly username: string
  readonly realm: string
  readonly md5: string
  readonly sha256: string
}

/**
 * Returns the secret that verifies digest responses of a user: `H(username:realm:password)` for each
 * algorithm (RFC 8760).
 */
export const digestSecret = (username: string, realm: string, password: string): DigestSecret => {
  const ha1 = (algorithm: 'md5' | 'sha256') =>
    createHash(algorithm).update(`${username}:${realm}:${password}`).digest('hex')
  return { username, realm, md5: ha1('md5'), sha256: ha1('sha256') }
}
