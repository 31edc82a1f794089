import type { Dispatcher } from 'undici'
import { TrunklineError } from '../core/errors/catalogue.ts'
import { cleanUrl } from './redirects.ts'

/** What came back of a request that was answered well. */
export interface Answer {
  readonly url: string
  readonly contentType: string
  readonly bytes: Uint8Array
}

/** An address that is not permitted came out of the resolver. */
export class AddressRefused extends Error {
  readonly address: string

  constructor(address: string) {
    super(`the address ${address} is not permitted`)
    this.address = address
  }
}

/** A header of the answer; empty when it is not there. */
export const headerOf = (response: Dispatcher.ResponseData, name: string): string => {
  const value = response.headers[name]
  return (Array.isArray(value) ? value[0] : value) ?? ''
}

/** Gives up a body with its connection: it could be as long as its server likes. That is told as an error, which nobody needs. */
export const discard = (body: Dispatcher.ResponseData['body']): void => {
  body.on('error', () => {})
  body.destroy()
}

/** Longest body that is read so that its connection can be used again. */
const mostDrained = 16_384

/** Throws a body away, and keeps its connection where it is short. Never rejects. */
export const drain = async (body: Dispatcher.ResponseData['body']): Promise<void> => {
  await body.dump({ limit: mostDrained }).catch(() => {})
}

/** Reads the whole body. Throws a {@link TrunklineError} for a status other than 2xx, an encoding, and more than `maxBytes`. */
export const readAnswer = async (
  url: string,
  response: Dispatcher.ResponseData,
  maxBytes: number,
): Promise<Answer> => {
  const { statusCode: status, body } = response
  if (status < 200 || status > 299) {
    discard(body)
    throw unreachable(url, 'status', `Its server answered ${status}.`, { status })
  }
  const encoding = headerOf(response, 'content-encoding')
  if (encoding && encoding !== 'identity') {
    discard(body)
    throw unreachable(
      url,
      'encoding',
      `It came encoded as ${encoding.slice(0, 20)}, which was not asked for.`,
    )
  }
  const bytes = await readBody(response, maxBytes)
  if (!bytes) throw unreachable(url, 'too-large', `It is larger than ${maxBytes} bytes.`)
  return { url, contentType: headerOf(response, 'content-type'), bytes }
}

/** The whole body; undefined, and the connection given up, when it is larger than `maxBytes`. */
export const readBody = async (
  response: Dispatcher.ResponseData,
  maxBytes: number,
): Promise<Uint8Array | undefined> => {
  const { body } = response
  if (Number(headerOf(response, 'content-length')) > maxBytes) {
    discard(body)
    return undefined
  }
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    size += chunk.length
    // Leaving the loop destroys the body, and with it the connection.
    if (size > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The beginning of a body, `maxBytes` at most; the rest is given up with the connection. */
export const readBeginning = async (
  { body }: Dispatcher.ResponseData,
  maxBytes: number,
): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    chunks.push(chunk)
    size += chunk.length
    if (size >= maxBytes) break
  }
  return Buffer.concat(chunks).subarray(0, maxBytes)
}

/** The first 64 headers of an answer by lower-case name, each the first of its name. */
export const headersOf = (response: Dispatcher.ResponseData): Readonly<Record<string, string>> => {
  const names = Object.keys(response.headers).slice(0, 64)
  return Object.fromEntries(names.map((name) => [name.toLowerCase(), headerOf(response, name)]))
}

/** The text of a document, by the character set of its type. */
export const decode = (bytes: Uint8Array, contentType: string): string => {
  const charset = /charset="?([\w-]+)/i.exec(contentType)?.[1] ?? 'utf-8'
  try {
    return new TextDecoder(charset).decode(bytes)
  } catch {
    return new TextDecoder().decode(bytes)
  }
}

/** The one error of fetching, without the secrets of its URL. */
export const unreachable = (
  url: string,
  reason: string,
  detail: string,
  more: object = {},
  cause?: unknown,
): TrunklineError =>
  new TrunklineError(
    'document_unreachable',
    `${cleanUrl(url)}: ${detail}`,
    { url: cleanUrl(url), reason, ...more },
    cause,
  )

/** The error for an address that is not permitted. */
export const refused = (url: string, address: string): TrunklineError =>
  unreachable(
    url,
    'address-refused',
    `Its address ${address} is not public, nor in limits.documentNetworks.`,
    { address },
  )

/** The error of the network as ours. */
export const asUnreachable = (error: unknown, url: string): TrunklineError => {
  if (error instanceof TrunklineError) return error
  if (error instanceof AddressRefused) return refused(url, error.address)
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return unreachable(url, 'dns', 'Its name has no address.')
  if (code === 'UND_ERR_CONNECT_TIMEOUT')
    return unreachable(url, 'connect', 'The connection took too long.', { sent: false })
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT')
    return unreachable(url, 'silent', 'Its server said nothing for too long.')
  if (code === 'UND_ERR_INVALID_ARG') return unreachable(url, 'request', `It cannot be sent: ${message}.`)
  if (code !== undefined && /^(ERR_TLS|ERR_SSL|EPROTO$)|CERT|LEAF_SIGNATURE/.test(code))
    return unreachable(url, 'tls', `Its certificate or its TLS cannot be used: ${code}.`)
  const sent = code === undefined ? undefined : reached.get(code)
  // Messages of the network name addresses and ports, and nothing of the URL's path or credentials.
  return unreachable(
    url,
    'connect',
    `The connection failed: ${code ?? message}.`,
    sent === undefined ? {} : { sent },
    error,
  )
}

/**
 * Failures of the network that another try may mend: before there was a connection, when the server has seen nothing of the request, and in
 * the middle of it. Others, such as a certificate that is not trusted, stay.
 */
const reached: ReadonlyMap<string, boolean> = new Map([
  ...['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL'].map((code) => [code, false] as const),
  ...['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].map((code) => [code, true] as const),
])
