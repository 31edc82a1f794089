import type { EngineMessage, EngineRequest } from '../../engine.ts'
import type { WireMessage } from '../session/engine-socket.ts'
import { onlyLanguageOf, voiceNameOf } from '../session/voice-name.ts'
import type { WireFormat } from '../session/wire-audio.ts'
import type { ElevenLabsAgentOptions } from './elevenlabs-options.ts'

const formats: Readonly<Record<string, WireFormat>> = {
  ulaw_8000: 'pcmu',
  pcm_8000: 'pcm8000',
  pcm_16000: 'pcm16000',
  pcm_24000: 'pcm24000',
  pcm_48000: 'pcm48000',
}

/** Returns a format by its name in the protocol; undefined for one that is not supported. */
export const formatNamed = (name: string): WireFormat | undefined => formats[name]

/** Returns the history as a part of the prompt: the protocol has no other place for it. */
const historyText = (history: readonly EngineMessage[]): string => {
  const lines = history
    .filter(({ content }) => content !== '')
    .map(({ role, content }) => `${role}: ${content}`)
  return lines.length === 0 ? '' : `\n\nThe conversation so far:\n${lines.join('\n')}`
}

/** Returns the first message. The agent does not greet by itself: the conversation decides who begins. */
export const initiationOf = (options: ElevenLabsAgentOptions, request: EngineRequest): WireMessage => {
  const type = 'conversation_initiation_client_data'
  if (!(options.hasOverrides ?? true)) return { type }
  const voice = voiceNameOf(request.languages[0], 'elevenlabs') ?? options.voice
  const language = onlyLanguageOf(request.languages)
  const { temperature, maxTokens } = request.settings
  const extra = {
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
  }
  return {
    type,
    conversation_config_override: {
      agent: {
        prompt: { prompt: request.prompt + historyText(request.history) },
        first_message: '',
        ...(language !== undefined && { language }),
      },
      ...(voice !== undefined && { tts: { voice_id: voice } }),
    },
    ...(Object.keys(extra).length > 0 && { custom_llm_extra_body: extra }),
  }
}
