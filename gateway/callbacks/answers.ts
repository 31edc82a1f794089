import type { Dispatcher } from 'undici'
import { TrunklineError } from '../core/errors/catalogue.ts'
import { cleanUrl } from './redirects.ts'

/** Successful response to a request. */
export interface Answer {
  readonly url: string
  readonly contentType: string
  readonly bytes: Uint8Array
}

/** Error for a resolved address that is not permitted. */
export class AddressRefused extends Error {
  readonly address: string

  constructor(address: string) {
    super(`the address ${address} is not permitted`)
    this.address = address
  }
}

/** Returns a header of the response; empty if it is absent. */
export const headerOf = (response: Dispatcher.ResponseData, name: string): string => {
  const value = response.headers[name]
  return (Array.isArray(value) ? value[0] : value) ?? ''
}

/**
 * Aborts a response body together with its connection, because the rest may have any length. Ignores the
 * resulting error.
 */
export const discard = (body: Dispatcher.ResponseData['body']): void => {
  body.on('error', () => {})
  body.destroy()
}

/** Maximum number of bytes that are read from an unwanted body, so that its connection can be reused. */
const maxDrainedBytes = 16_384

/** Discards a body, and keeps its connection if the body is short. Never rejects. */
export const drain = async (body: Dispatcher.ResponseData['body']): Promise<void> => {
  await body.dump({ limit: maxDrainedBytes }).catch(() => {})
}

/**
 * Reads the whole body. Throws a {@link TrunklineError} if the status is not 2xx, the body has a content
 * coding, or is longer than `maxBytes`.
 */
export const readAnswer = async (
  url: string,
  response: Dispatcher.ResponseData,
  maxBytes: number,
): Promise<Answer> => {
  checkAnswer(url, response)
  const bytes = await readBody(response, maxBytes)
  if (!bytes) throw tooLarge(url, maxBytes)
  return { url, contentType: headerOf(response, 'content-type'), bytes }
}

/** Passes the body to `write` in parts. Throws as {@link readAnswer} does, and the errors of `write`. */
export const saveAnswer = async (
  url: string,
  response: Dispatcher.ResponseData,
  maxBytes: number,
  write: (part: Uint8Array) => Promise<unknown>,
): Promise<void> => {
  checkAnswer(url, response)
  if (Number(headerOf(response, 'content-length')) > maxBytes) {
    discard(response.body)
    throw tooLarge(url, maxBytes)
  }
  let size = 0
  for await (const part of response.body as AsyncIterable<Uint8Array>) {
    size += part.length
    // Leaving the loop destroys the body and its connection.
    if (size > maxBytes) throw tooLarge(url, maxBytes)
    await write(part)
  }
}

/** Throws, and aborts the body, if the status is not 2xx or the body has a content coding. */
const checkAnswer = (url: string, response: Dispatcher.ResponseData): void => {
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
      `The response is encoded as ${encoding.slice(0, 20)}, which was not requested.`,
    )
  }
}

const tooLarge = (url: string, maxBytes: number): TrunklineError =>
  unreachable(url, 'too-large', `It is larger than ${maxBytes} bytes.`)

/** Reads the whole body. Returns undefined, and closes the connection, if it is larger than `maxBytes`. */
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
    // Leaving the loop destroys the body and its connection.
    if (size > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Returns the beginning of a body, at most `maxBytes`. A longer body is aborted with its connection. */
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

/** Returns the first 64 headers of a response by lower-case name, the first value of each. */
export const headersOf = (response: Dispatcher.ResponseData): Readonly<Record<string, string>> => {
  const names = Object.keys(response.headers).slice(0, 64)
  return Object.fromEntries(names.map((name) => [name.toLowerCase(), headerOf(response, name)]))
}

/** Decodes a document by the character set in its content type. */
export const decode = (bytes: Uint8Array, contentType: string): string => {
  const charset = /charset="?([\w-]+)/i.exec(contentType)?.[1] ?? 'utf-8'
  try {
    return new TextDecoder(charset).decode(bytes)
  } catch {
    return new TextDecoder().decode(bytes)
  }
}

/** Returns the error of a failed request, without the secrets of its URL. */
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

/** Returns the error for an address that is not permitted. */
export const refused = (url: string, address: string): TrunklineError =>
  unreachable(
    url,
    'address-refused',
    `The address ${address} is not public, and not in limits.documentNetworks.`,
    { address },
  )

/** Converts an error of the network to a {@link TrunklineError}. */
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
  // Network messages name addresses and ports, but neither the path of the URL nor credentials.
  return unreachable(
    url,
    'connect',
    `The connection failed: ${code ?? message}.`,
    sent === undefined ? {} : { sent },
    error,
  )
}

/**
 * Network failures after which a retry may succeed; the value is whether the request may have reached the
 * server. Other failures are permanent, such as an untrusted certificate.
 */
const reached: ReadonlyMap<string, boolean> = new Map([
  ...['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL'].map((code) => [code, false] as const),
  ...['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].map((code) => [code, true] as const),
])
