import { createPrivateKey, generateKeyPair, type JsonWebKey, type KeyObject } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { calculateJwkThumbprint } from 'jose'
import { makeFolder } from '../../core/make-folder.ts'

/** Private key for `RS256`; its id is the thumbprint of its public half (RFC 7638). A secret. */
export type SigningKey = JsonWebKey & {
  readonly kid: string
  readonly alg: 'RS256'
  readonly use: 'sig'
}

const minBits = 2048

/**
 * Reads the keys that sign id tokens: the PEM files in a folder that only its owner can read. The last key by
 * file name signs. All keys are published, so that older signatures can still be verified. The first key is
 * created on demand, in a file named after the date. Throws an error that names a file without an RSA key of
 * 2048 bits.
 */
export const readOrMakeSigningKeys = async (folder: string, now: number): Promise<SigningKey[]> => {
  makeFolder(folder)
  if (namesIn(folder).length === 0)
    await make(join(folder, `${new Date(now).toISOString().slice(0, 10)}.pem`))
  return Promise.all(
    namesIn(folder)
      .reverse()
      .map((name) => readKey(join(folder, name))),
  )
}

const namesIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.pem'))
    .sort()

const make = async (file: string): Promise<void> => {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: minBits })
  try {
    writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600, flag: 'wx' })
  } catch (error) {
    // Another process was faster.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

const readKey = async (file: string): Promise<SigningKey> => {
  const key = parse(file)
  if (key.asymmetricKeyType !== 'rsa' || (key.asymmetricKeyDetails?.modulusLength ?? 0) < minBits)
    throw new Error(`${file} holds no RSA key of ${minBits} bits or more.`)
  const jwk = key.export({ format: 'jwk' })
  const { kty = '', n = '', e = '' } = jwk
  return { ...jwk, kid: await calculateJwkThumbprint({ kty, n, e }), alg: 'RS256', use: 'sig' }
}

const parse = (file: string): KeyObject => {
  try {
    return createPrivateKey(readFileSync(file))
  } catch (error) {
    throw new Error(`${file} holds no private key that can be used: ${String(error)}`, { cause: error })
  }
}
