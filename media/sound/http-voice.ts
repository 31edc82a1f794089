import type { PcmRate, VoiceEngine, VoiceRequest } from '../types.ts'
import { SoundBusy, SoundError, TextRejected } from './errors.ts'
import type { JobOptions, Samples } from './job-thread.ts'

/** HTTP request to a text-to-speech server. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/**
 * Sends a request to a server configured by the operator. Rejects if it fails or exceeds one of the `limits`.
 * The error's message contains neither credentials nor the text to speak. Does not follow redirects, because
 * the request may carry a key.
 */
export type SendRequest = (
  request: HttpRequest,
  limits: { readonly timeoutMs: number; readonly maxBytes: number; readonly signal?: AbortSignal },
) => Promise<{ readonly status: number; readonly bytes: Uint8Array }>

/** Options common to both kinds of HTTP voices. */
interface CommonOptions {
  /** Name of the voice in the configuration, logs and metrics. */
  readonly name: string
  readonly url: string
  /** Name of the server's voice, for requests that name no voice; default none. */
  readonly voice?: string
  /** Language for requests that name no language; default none. */
  readonly language?: string
  /** Time-out of a whole request, in ms. */
  readonly timeoutMs: number
  /** Whether valid SSML is sent as SSML, in one request. Otherwise it is sent as plain text, in pieces. */
  readonly ssml: boolean
}

/** Server with OpenAI's interface: `POST …/audio/speech`. */
export interface OpenAiVoiceOptions extends CommonOptions {
  readonly kind: 'openai'
  readonly model: string
  /** Value of `response_format`. */
  readonly format: 'wav' | 'mp3' | 'opus'
  /** Key sent as a bearer token. Never logged. */
  readonly key?: string
}

/**
 * Any other server that answers with audio. `{{text}}`, `{{voice}}` and `{{language}}` in the URL, headers
 * and body are replaced by their values, escaped for their context.
 */
export interface TemplateVoiceOptions extends CommonOptions {
  readonly kind: 'template'
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** Options of an HTTP voice. */
export type HttpVoiceOptions = OpenAiVoiceOptions | TemplateVoiceOptions

/** Maximum size of a response, in bytes: about four minutes of WAV at 24 kHz. */
const maxAnswerBytes = 12 * 1024 * 1024

/** Status codes by which a server rejects the text: it is too long, or has unsupported SSML. */
const refusals = [400, 413, 414, 422]

/** Text-to-speech engine that requests audio from an HTTP server, in any supported audio format. */
export class HttpVoice implements VoiceEngine {
  readonly #options: HttpVoiceOptions
  readonly #send: SendRequest
  readonly #decode: (bytes: Uint8Array, rate: PcmRate, waiter: JobOptions) => Promise<Samples>

  constructor(
    options: HttpVoiceOptions,
    send: SendRequest,
    decode: (bytes: Uint8Array, rate: PcmRate, waiter: JobOptions) => Promise<Samples>,
  ) {
    this.#options = options
    this.#send = send
    this.#decode = decode
  }

  async speak({ rate, customer, ...request }: VoiceRequest, signal?: AbortSignal): Promise<Samples> {
    const { name, timeoutMs } = this.#options
    const limits = { timeoutMs, maxBytes: maxAnswerBytes, ...(signal && { signal }) }
    try {
      const { status, bytes } = await this.#send(this.#requestFor(request), limits)
      if (refusals.includes(status)) throw new TextRejected(`its server answered ${status}`)
      if (status !== 200) throw new SoundError(`its server answered ${status}`)
      return await this.#decode(bytes, rate, { customer, signal })
    } catch (error) {
      // The server did answer. Only the decoder is overloaded, so this is no failure of the voice.
      if (error instanceof SoundBusy) throw error
      const Failure = error instanceof TextRejected ? TextRejected : SoundError
      throw new Failure(`The voice ${name} failed: ${(error as Error).message}`, error)
    }
  }

  async close(): Promise<void> {}

  #requestFor({ text, voice, language }: Omit<VoiceRequest, 'rate' | 'customer'>): HttpRequest {
    const options = this.#options
    const values = {
      text,
      voice: voice ?? options.voice ?? '',
      language: language ?? options.language ?? '',
    }
    return options.kind === 'openai' ? openAiRequest(options, values) : templateRequest(options, values)
  }
}

interface Values {
  readonly text: string
  readonly voice: string
  readonly language: string
}

const openAiRequest = (
  { url, model, format, key }: OpenAiVoiceOptions,
  { text, voice }: Values,
): HttpRequest => ({
  method: 'POST',
  url,
  headers: { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) },
  body: JSON.stringify({ model, input: text, ...(voice && { voice }), response_format: format }),
})

const templateRequest = (options: TemplateVoiceOptions, values: Values): HttpRequest => {
  const { method, url, body } = options
  const given = Object.entries(options.headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  const headers: Record<string, string> = Object.fromEntries(
    given.map(([name, value]) => [name, fill(value, values, oneLine)]),
  )
  if (method === 'GET' || body === undefined) {
    return { method, url: fill(url, values, encodeURIComponent), headers }
  }
  headers['content-type'] ??= 'application/json'
  const escaped = escapeFor(headers['content-type'])
  const written = options.ssml && escaped === xml ? ssml : escaped
  return {
    method,
    url: fill(url, values, encodeURIComponent),
    headers,
    body: fill(body, values, (value, name) => (name === 'text' ? written : escaped)(value)),
  }
}

const fill = (
  template: string,
  values: Values,
  escaped: (value: string, name: keyof Values) => string,
): string =>
  template.replace(/\{\{\s*(text|voice|language)\s*\}\}/g, (_, name: keyof Values) =>
    escaped(values[name], name),
  )

const xml = (text: string): string => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)

/** Keeps SSML as it is, and wraps plain text in minimal SSML. */
const ssml = (text: string): string =>
  /^<speak[\s>]/.test(text) && text.endsWith('</speak>') ? text : `<speak>${xml(text)}</speak>`

/** Returns the function that escapes values for a body of the given content type. */
const escapeFor = (contentType: string): ((text: string) => string) => {
  if (/json/i.test(contentType)) return (text) => JSON.stringify(text).slice(1, -1)
  if (/xml/i.test(contentType)) return xml
  if (/x-www-form-urlencoded/i.test(contentType)) return encodeURIComponent
  return (text) => text
}

/**
 * Returns a value for a header, with line breaks and characters outside ASCII replaced by spaces. Line breaks
 * in a value from a document could inject headers.
 */
const oneLine = (text: string): string => text.replace(/[^\x20-\x7e]+/g, ' ').trim()
