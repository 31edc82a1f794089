import type { PcmRate, VoiceEngine, VoiceRequest } from '../types.ts'
import { SoundBusy, SoundError, TextRejected } from './errors.ts'
import type { JobOptions, Samples } from './job-thread.ts'

/** Request to a voice's server. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/**
 * Sends a request to a server configured by the operator. Rejects with an Error whose message contains
 * neither credentials nor text. Ends at the `limits`. Does not follow redirects, because the request may
 * carry a key.
 */
export type SendRequest = (
  request: HttpRequest,
  limits: { readonly timeoutMs: number; readonly maxBytes: number; readonly signal?: AbortSignal },
) => Promise<{ readonly status: number; readonly bytes: Uint8Array }>

/** Options common to both kinds of HTTP voices. */
interface CommonOptions {
  /** Name in voice tables, logs and metrics. */
  readonly name: string
  readonly url: string
  /** Voice for requests that name none; default none. */
  readonly voice?: string
  readonly language?: string
  /** Time-out of a whole request, in ms. */
  readonly timeoutMs: number
  /** Whether texts with valid SSML are sent as SSML, in one piece; else as plain text, piece by piece. */
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
 * Any other server that answers with audio. `{{text}}`, `{{voice}}` and `{{language}}` are replaced, escaped
 * for their context.
 */
export interface TemplateVoiceOptions extends CommonOptions {
  readonly kind: 'template'
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** Options of an HTTP voice. */
export type HttpVoiceOptions = OpenAiVoiceOptions | TemplateVoiceOptions

/** Maximum size of an answer, in bytes: four minutes of WAV at 24 kHz. */
const maxAnswerBytes = 12 * 1024 * 1024

/** Status codes that reject the text: too long, or unsupported SSML. */
const refusals = [400, 413, 414, 422]

/** Voice behind HTTP. The answer is audio in any supported format. */
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
      // The server succeeded, only decoding is busy: no failure of the engine.
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

/** Returns the escaping of values in a body of that type. */
const escapeFor = (contentType: string): ((text: string) => string) => {
  if (/json/i.test(contentType)) return (text) => JSON.stringify(text).slice(1, -1)
  if (/xml/i.test(contentType)) return xml
  if (/x-www-form-urlencoded/i.test(contentType)) return encodeURIComponent
  return (text) => text
}

/** Values may come from documents: line breaks would inject headers, and headers are ASCII only. */
const oneLine = (text: string): string => text.replace(/[^\x20-\x7e]+/g, ' ').trim()
