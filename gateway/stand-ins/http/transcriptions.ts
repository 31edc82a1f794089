import { deltasOf } from '../deltas.ts'
import { Hearing } from '../hearing.ts'
import { type Performer, perform, type Speech } from '../perform.ts'
import type { ErrorKind, QuirkName } from '../script-types.ts'
import { type HttpCall, type HttpEngine, partAnswer, sendError, sendJson } from '../stand.ts'

/** Rate that files are examined at, in Hz. */
const rate = 16_000

/** Transcription of a file, by OpenAI and compatible servers. */
export const transcriptions: HttpEngine = {
  name: 'transcriptions',
  method: 'POST',
  serves: (path) => path === '/v1/audio/transcriptions' || path === '/audio/transcriptions',
  answer: async (call) => {
    const form = await formOf(call)
    const file = form?.get('file')
    if (!form || !(file instanceof Blob)) return sendError(call, 'refused', "'file': an audio file expected")
    if (typeof form.get('model') !== 'string') return sendError(call, 'refused', "'model': a text expected")
    const heard = await hearFile(call, new Uint8Array(await file.arrayBuffer()))
    if (typeof heard === 'string') return sendError(call, 'refused', heard)
    const performer = new TranscriptPerformer(call, form)
    const answer = partAnswer(call.stand, 'transcriptions', { turn: 1, ...heard })
    await perform(answer, performer, call.stand, call.signal)
    performer.end()
  },
}

const formOf = async ({ body, request }: HttpCall): Promise<FormData | undefined> => {
  const headers = { 'content-type': request.headers['content-type'] ?? '' }
  try {
    return await new Response(new Uint8Array(body), { headers }).formData()
  } catch {
    return undefined
  }
}

/** Returns the text of a file and the length of its speech; a sentence if the file cannot be read. */
const hearFile = async (
  { stand }: HttpCall,
  bytes: Uint8Array,
): Promise<{ readonly text: string; readonly speechMs: number } | string> => {
  try {
    const samples = await stand.sounds.decode(bytes, rate)
    let speechMs = 0
    let text = ''
    const listener = {
      onStarted: () => {},
      onStopped: (turn: { readonly text: string; readonly speechMs: number }) => {
        speechMs = turn.speechMs
        text = turn.text
      },
    }
    // The whole file is one turn.
    const hearing = new Hearing(
      { rate, silenceMs: Number.POSITIVE_INFINITY, texts: stand.fileTexts },
      listener,
    )
    hearing.feed(samples)
    hearing.end()
    return { text, speechMs }
  } catch (error) {
    return error instanceof Error ? error.message : 'The file could not be decoded.'
  }
}

/** Carries out an answer as a transcript. */
class TranscriptPerformer implements Performer {
  readonly quirks = new Set<QuirkName>()
  readonly #call: HttpCall
  readonly #format: string
  readonly #isStreamed: boolean
  #text = ''
  #isEnded = false

  constructor(call: HttpCall, form: FormData) {
    this.#call = call
    this.#format = String(form.get('response_format') ?? 'json')
    this.#isStreamed = form.get('stream') === 'true'
  }

  async say({ text }: Speech): Promise<void> {
    this.#text += this.#text === '' ? text : ` ${text}`
  }

  call(): void {}

  inject(): void {
    this.#isEnded = true
    this.#call.response.writeHead(200, { 'content-type': 'application/json' }).end('{"text": "')
  }

  error(kind: ErrorKind): void {
    this.#isEnded = true
    sendError(this.#call, kind)
  }

  close(): void {
    this.#isEnded = true
    this.#call.response.destroy()
  }

  stall(): void {
    this.#isEnded = true
  }

  end(): void {
    const { response, signal } = this.#call
    if (this.#isEnded || signal.aborted) return
    if (this.#isStreamed) {
      this.#stream()
      return
    }
    if (this.#format === 'text') {
      response.writeHead(200, { 'content-type': 'text/plain' }).end(`${this.#text}\n`)
      return
    }
    sendJson(this.#call, 200, { text: this.#text })
  }

  #stream(): void {
    const { response, journal } = this.#call
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const events = deltasOf(this.#text).map((delta) => ({
      type: 'transcript.text.delta',
      delta,
    }))
    for (const event of [...events, { type: 'transcript.text.done', text: this.#text }])
      response.write(`data: ${JSON.stringify(event)}\n\n`)
    journal.sent('transcript.text.done', { text: this.#text })
    response.end()
  }
}
