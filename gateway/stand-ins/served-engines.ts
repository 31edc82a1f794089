import { deepgramAgent } from './agents/deepgram-agent.ts'
import { elevenLabsAgent } from './agents/elevenlabs-agent.ts'
import { gemini } from './agents/gemini.ts'
import { live } from './agents/live.ts'
import { relay } from './agents/relay.ts'
import { ultravox, ultravoxCalls } from './agents/ultravox.ts'
import { chat } from './http/chat.ts'
import { piper, piperVoices, speech } from './http/speech.ts'
import { transcriptions } from './http/transcriptions.ts'
import { realtime } from './realtime/realtime.ts'
import { deepgramFlux } from './recognisers/deepgram-flux.ts'
import { deepgramListen } from './recognisers/deepgram-listen.ts'
import { elevenLabsRecogniser } from './recognisers/elevenlabs-recogniser.ts'
import { vosk } from './recognisers/vosk.ts'
import type { HttpEngine, SocketEngine } from './stand.ts'
import { deepgramSpeak } from './voices/deepgram-speak.ts'
import { elevenLabsVoice } from './voices/elevenlabs-voice.ts'

/** Stand-ins behind a WebSocket; the first that serves a path wins. */
export const socketEngines: readonly SocketEngine[] = [
  realtime,
  live,
  gemini,
  deepgramAgent,
  elevenLabsAgent,
  ultravox,
  relay,
  deepgramListen,
  deepgramFlux,
  deepgramSpeak,
  elevenLabsVoice,
  elevenLabsRecogniser,
  vosk,
]

/** Stand-ins behind HTTP. */
export const httpEngines: readonly HttpEngine[] = [
  chat,
  speech,
  transcriptions,
  ultravoxCalls,
  piper,
  piperVoices,
]
