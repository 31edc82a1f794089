import { wavHeader } from '../../../media/codecs/wav-header.ts'
import type { Clock } from '../../core/clock.ts'
import { readJsonObject } from '../../core/json.ts'
import { WireEncoder } from '../engines/session/wire-audio.ts'
import { textAt } from '../engines/session/wire-values.ts'
import { Deadline } from '../streaming/deadline.ts'
import { EngineError, engineErrorOf } from '../streaming/engine-error.ts'
import { readAll, type StreamingHttp } from '../streaming/streaming-http.ts'
import {
  type AgentRecogniser,
  type AgentRecognition,
  type AgentRecognitionListener,
  type AgentRecognitionRequest,
  onlyLanguage,
} from './recogniser.ts'

/** Options of an {@link OpenAiFile}. */
export interface OpenAiFileOptions {
  /** Name in the configuration. */
  readonly name: string
  /** URL of the route, for instance `https://api.openai.com/v1/audio/transcriptions`. */
  readonly url: string
  readonly model: string
  /** Language (BCP 47) of requests that name none. */
  readonly language?: string
  /** Key, sent as a bearer token. Never logged. */
  readonly key?: string
  /** Further headers. Never logged. */
  readonly headers?: Readonly<Record<string, string>>
  /** Maximum time for the text of one file, in ms; default 8000. */
  readonly timeoutMs?: number
}

/** Audio before the detected begin of the voice, in ms. */
const beforeMs = 400
/** Maximum audio of one file, in ms; longer speech is divided. */
const maxFileMs = 60_000
const frameMs = 20
/** Maximum number of files that wait for their text. */
const maxPending = 4
const maxAnswerBytes = 1_048_576

/**
 * Recogniser of OpenAI's `POST /audio/transcriptions`, and of servers with this route: speaches, vLLM,
 * whisper.cpp. Sends the audio from the begin to the end of the caller's voice as a WAV file; there is no
 * text before.
 */
export class OpenAiFile implements AgentRecogniser {
  readonly name: string
  readonly isStreaming = false
  readonly #options: OpenAiFileOptions
  readonly #http: StreamingHttp
  readonly #clock: Clock
  readonly #open = new Set<FileRecognition>()

  constructor(options: OpenAiFileOptions, http: StreamingHttp, clock: Clock) {
    this.name = options.name
    this.#options = options
    this.#http = http
    this.#clock = clock
  }

  open(request: AgentRecognitionRequest, listener: AgentRecognitionListener): AgentRecognition {
    const configured = this.#options.language
    const language = onlyLanguage({ ...(configured && { language: configured }), ...request })
    const { hints, rate } = request
    const recognition: FileRecognition = new FileRecognition({
      rate,
      listener,
      send: (wav, deadline) => this.#send(wav, { language, hints }, deadline),
      newDeadline: () => new Deadline(this.#clock),
      onOver: () => this.#open.delete(recognition),
    })
    this.#open.add(recognition)
    return recognition
  }

  async close(): Promise<void> {
    for (const recognition of this.#open) recognition.close()
  }

  async #send(
    wav: Buffer,
    { language, hints }: { readonly language: string | undefined; readonly hints: readonly string[] },
    deadline: Deadline,
  ): Promise<string> {
    const { url, model, key, headers, timeoutMs = 8000 } = this.#options
    const { contentType, body } = multipart(wav, {
      model,
      response_format: 'json',
      // ISO 639-1.
      ...(language && { language: language.split('-')[0] ?? '' }),
      ...(hints.length > 0 && { prompt: hints.join(', ') }),
    })
    deadline.set(timeoutMs, 'no text was received')
    try {
      const auth = key && { authorization: `Bearer ${key}` }
      const request = { url, headers: { 'content-type': contentType, ...auth, ...headers }, body }
      const response = await this.#http.post(request, deadline.signal)
      return textIn((await readAll(response.body, maxAnswerBytes)).toString('utf8'))
    } finally {
      deadline.clear()
    }
  }
}

const textIn = (json: string): string => {
  let text: string | undefined
  try {
    text = textAt(readJsonObject(json), 'text')
  } catch {
    text = undefined
  }
  if (text === undefined) throw new EngineError('protocol', 'a JSON object with the member text expected')
  return text.trim()
}

/** Boundary of the parts; the random part keeps it out of the audio. */
const boundary = `trunkline-${crypto.randomUUID()}`

const multipart = (
  wav: Buffer,
  fields: Readonly<Record<string, string>>,
): { readonly contentType: string; readonly body: Buffer } => {
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  const file =
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="turn.wav"\r\n` +
    'Content-Type: audio/wav\r\n\r\n'
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.concat([Buffer.from(parts.join('') + file), wav, Buffer.from(`\r\n--${boundary}--\r\n`)]),
  }
}

/** Values and collaborators of a {@link FileRecognition}. */
interface FileRecognitionDeps {
  readonly rate: AgentRecognitionRequest['rate']
  readonly listener: AgentRecognitionListener
  readonly send: (wav: Buffer, deadline: Deadline) => Promise<string>
  readonly newDeadline: () => Deadline
  readonly onOver: () => void
}

class FileRecognition implements AgentRecognition {
  readonly #deps: FileRecognitionDeps
  /** Recognisers of files expect 16 kHz. */
  readonly #encoder: WireEncoder
  #frames: Buffer[] = []
  #isVoiced = false
  #isOver = false
  /** Files in progress; their texts come in order. */
  #pending: Deadline[] = []
  #last: Promise<void> = Promise.resolve()

  constructor(deps: FileRecognitionDeps) {
    this.#deps = deps
    this.#encoder = new WireEncoder('pcm16000', deps.rate)
  }

  write(samples: Int16Array): void {
    if (this.#isOver) return
    this.#frames.push(this.#encoder.encode(samples))
    if (!this.#isVoiced && this.#frames.length * frameMs > beforeMs) this.#frames.shift()
    if (this.#frames.length * frameMs >= maxFileMs) this.#file()
  }

  voice(isVoiced: boolean): void {
    if (this.#isVoiced && !isVoiced) this.#file()
    this.#isVoiced = isVoiced
  }

  close(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#frames = []
    for (const deadline of this.#pending) deadline.abort()
    this.#deps.onOver()
  }

  /** Sends the audio so far. */
  #file(): void {
    const audio = Buffer.concat(this.#frames.splice(0))
    if (this.#pending.length >= maxPending) {
      this.#fail(new EngineError('timeout', `the recogniser is more than ${maxPending} files behind`))
      return
    }
    const wav = Buffer.concat([wavHeader({ rate: 16_000 }, audio.length), audio])
    const deadline = this.#deps.newDeadline()
    this.#pending.push(deadline)
    const text = this.#deps.send(wav, deadline)
    this.#last = Promise.allSettled([text, this.#last]).then(([settled]) => {
      this.#pending = this.#pending.filter((each) => each !== deadline)
      if (this.#isOver) return
      if (settled.status === 'rejected') this.#fail(engineErrorOf(settled.reason, deadline.signal))
      else if (settled.value !== '') this.#deps.listener.onTranscript({ text: settled.value, isFinal: true })
    })
  }

  #fail(error: EngineError): void {
    if (this.#isOver) return
    this.close()
    this.#deps.listener.onFailure(error)
  }
}
