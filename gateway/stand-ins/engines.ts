import { chat } from './http/chat.ts'
import { speech } from './http/speech.ts'
import { transcriptions } from './http/transcriptions.ts'
import { realtime } from './realtime/realtime.ts'
import { deepgramFlux } from './recognisers/deepgram-flux.ts'
import { deepgramListen } from './recognisers/deepgram-listen.ts'
import { vosk } from './recognisers/vosk.ts'
import type { HttpEngine, SocketEngine } from './stand.ts'

/** Stand-ins behind a WebSocket; the first that serves a path wins. */
export const socketEngines: readonly SocketEngine[] = [realtime, deepgramListen, deepgramFlux, vosk]

/** Stand-ins behind HTTP. */
export const httpEngines: readonly HttpEngine[] = [chat, speech, transcriptions]
