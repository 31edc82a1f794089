import { randomUUID } from 'node:crypto'
import { toBytes } from '../audio-format.ts'
import { deepgramFormat } from '../recognisers/recognition.ts'
import { errorFacts, type SocketCall, type SocketEngine } from '../stand.ts'
import { VoiceRun } from './voice-run.ts'

/** Deepgram's voice (Aura) behind a WebSocket. */
export const deepgramSpeak: SocketEngine = {
  name: 'deepgram-speak',
  serves: (path) => path === '/v1/speak',
  open: (call) => {
    const { searchParams } = call.url
    const [encoding, rate] = ['encoding', 'sample_rate'].map((name) => searchParams.get(name) ?? undefined)
    const format = deepgramFormat(encoding, rate, 24_000)
    if (format) open(call, format)
    else call.socket.close(1008, 'DATA-0000')
  },
}

const open = (call: SocketCall, format: NonNullable<ReturnType<typeof deepgramFormat>>): void => {
  const { socket, url } = call
  const voice = new VoiceRun(call, 'deepgram-speak', format.rate, {
    onAudio: (samples) => socket.sendAudio(toBytes(samples, format)),
    error: (kind) => socket.close(kind === 'server' ? 1011 : 1008, errorFacts[kind].code),
  })
  let waiting = ''
  let sequence = 0
  const flush = () => {
    voice.speak(waiting)
    waiting = ''
    const sequence_id = sequence++
    voice.afterwards(() => socket.send({ type: 'Flushed', sequence_id }))
  }
  const clear = () => {
    waiting = ''
    voice.clear()
    socket.send({ type: 'Cleared', sequence_id: sequence++ })
  }
  const actions: Readonly<Record<string, (text: unknown) => void>> = {
    Speak: (text) => {
      waiting += String(text ?? '')
    },
    Flush: flush,
    Clear: clear,
    Close: () => {
      voice.speak(waiting)
      voice.afterwards(() => socket.close(1000))
    },
  }
  socket.listen({
    onMessage: ({ type, text }) => {
      const name = String(type)
      if (Object.hasOwn(actions, name)) actions[name]?.(text)
      else socket.send({ type: 'Warning', code: 'UNKNOWN_MESSAGE', description: 'Unknown message type.' })
    },
    onClosed: () => voice.clear(),
  })
  socket.send({
    type: 'Metadata',
    request_id: randomUUID(),
    model_name: url.searchParams.get('model') ?? 'aura-2',
    model_version: 'stand-in',
    model_uuid: randomUUID(),
  })
}
