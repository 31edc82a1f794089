import { wavHeader } from '../../../media/codecs/wav-header.ts'
import { readJsonObject } from '../../core/json.ts'
import { toBytes } from '../audio-format.ts'
import { sendPaced } from '../pace.ts'
import { type InjectedQuirk, type Performer, perform, type Speech } from '../perform.ts'
import type { ErrorKind, QuirkName } from '../script-types.ts'
import type { SoundRate } from '../sound-store.ts'
import { type HttpCall, type HttpEngine, partAnswer, sendError } from '../stand.ts'

/** Rate of OpenAI's voices, in Hz. */
const voiceRate = 24_000

/** Speech of OpenAI and of compatible servers: `pcm` or `wav`, as a stream of bytes or of events. */
export const speech: HttpEngine = {
  name: 'speech',
  method: 'POST',
  serves: (path) => path === '/v1/audio/speech' || path === '/audio/speech',
  answer: async (call) => {
    const { input, response_format: format = 'wav', stream_format: stream = 'audio' } = bodyOf(call)
    if (typeof input !== 'string' || input.length > 4096)
      return sendError(call, 'refused', "'input': a text of at most 4096 characters expected")
    if (format !== 'pcm' && format !== 'wav')
      return sendError(call, 'refused', "'response_format': pcm or wav expected; the stand-in has no other")
    await speak(call, { text: input, rate: voiceRate, isWav: format === 'wav', isEvents: stream === 'sse' })
  },
}

/** Voice of Piper's HTTP server: a WAV, sent whole. */
export const piper: HttpEngine = {
  name: 'piper',
  method: 'POST',
  serves: (path) => path === '/' || path === '/synthesize' || path === '/piper',
  answer: async (call) => {
    const { text } = bodyOf(call)
    if (typeof text !== 'string' || text.trim() === '') return sendError(call, 'refused', 'No text provided')
    await speak(call, { text, rate: 16_000, isWav: true, isEvents: false })
  },
}

/** List of Piper's voices. */
export const piperVoices: HttpEngine = {
  name: 'piper',
  method: 'GET',
  serves: (path) => path === '/voices',
  answer: async ({ response }) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ 'en_US-stand_in': { audio: { sample_rate: 16_000 } } }))
  },
}

interface VoiceRequest {
  readonly text: string
  readonly rate: SoundRate
  readonly isWav: boolean
  readonly isEvents: boolean
}

const bodyOf = ({ body }: HttpCall): Record<string, unknown> => {
  try {
    return readJsonObject(body.toString())
  } catch {
    return {}
  }
}

const speak = async (call: HttpCall, request: VoiceRequest): Promise<void> => {
  const performer = new VoicePerformer(call, request)
  const engine = request.rate === voiceRate ? 'speech' : 'piper'
  await perform(
    partAnswer(call.stand, engine, { turn: 1, text: request.text }),
    performer,
    call.stand,
    call.signal,
  )
  performer.end()
}

/** Carries out an answer as the body of a response. */
class VoicePerformer implements Performer {
  readonly quirks = new Set<QuirkName>()
  readonly #call: HttpCall
  readonly #request: VoiceRequest
  #isEnded = false
  #bytes = 0

  constructor(call: HttpCall, request: VoiceRequest) {
    this.#call = call
    this.#request = request
  }

  async say(speech: Speech, signal: AbortSignal): Promise<void> {
    const { rate } = this.#request
    const samples = await speech.samples(rate)
    const { clock } = this.#call.stand
    await sendPaced({ samples, rate, speech, clock, signal }, (part) =>
      this.#audio(toBytes(part, { coding: 'pcm', rate })),
    )
  }

  call(): void {}

  inject(quirk: InjectedQuirk): void {
    if (this.#request.isEvents) this.#event({ type: `stand_in.${quirk}` })
    else this.#audio(Buffer.alloc(quirk === 'huge' ? 10 * 1024 * 1024 : 101, 0x5a))
  }

  error(kind: ErrorKind): void {
    if (this.#call.response.headersSent) this.#call.response.destroy()
    else sendError(this.#call, kind)
    this.#isEnded = true
  }

  close(how: number | 'abrupt'): void {
    if (how === 'abrupt') this.#call.response.destroy()
    else this.#call.response.end()
    this.#isEnded = true
  }

  stall(): void {
    this.#isEnded = true
  }

  end(): void {
    if (this.#isEnded || this.#call.signal.aborted) return
    this.#start()
    const tokens = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
    if (this.#request.isEvents) this.#event({ type: 'speech.audio.done', usage: tokens })
    this.#call.journal.audioSent(this.#bytes)
    this.#call.response.end()
  }

  #audio(bytes: Buffer): void {
    if (this.#isEnded) return
    this.#bytes += bytes.length
    if (this.#request.isEvents) {
      this.#event({ type: 'speech.audio.delta', audio: bytes.toString('base64') })
      return
    }
    this.#start()
    this.#call.response.write(bytes)
  }

  #event(data: object): void {
    this.#start()
    this.#call.response.write(`data: ${JSON.stringify(data)}\n\n`)
  }

  #start(): void {
    const { response, journal } = this.#call
    if (response.headersSent) return
    const { isEvents, isWav, rate } = this.#request
    const type = isEvents ? 'text/event-stream' : isWav ? 'audio/wav' : 'audio/pcm'
    journal.sent('200', { type })
    response.writeHead(200, { 'content-type': type })
    // The length is unknown at the start of a stream; OpenAI's server writes all ones, too.
    if (isWav && !isEvents) response.write(wavHeader({ rate }))
  }
}
