import type { SocketEngine } from '../stand.ts'
import { RealtimeSession } from './realtime-session.ts'

/**
 * OpenAI Realtime: conversations and transcriptions. A header `OpenAI-Beta: realtime=v1` selects the beta
 * names, which compatible servers still use.
 */
export const realtime: SocketEngine = {
  name: 'realtime',
  serves: (path) => path === '/v1/realtime' || path === '/openai/v1/realtime',
  open: (call) => new RealtimeSession(call),
}
