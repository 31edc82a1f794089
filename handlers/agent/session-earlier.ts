import { redactedUrl } from '../common/urls.ts'
import { defined } from './log.ts'
import type { SessionState } from './session-state.ts'
import { isObject, textOf } from './values.ts'

/** Maximum length of what is known of earlier conversations, in characters. */
const maxLength = 16_384

/**
 * Asks the report URL for the summary of earlier conversations of the same `conversation_id`. Resolves with
 * undefined without one, or if the document does not keep conversations. Never rejects.
 */
export const earlierConversation = async (state: SessionState): Promise<string | undefined> => {
  const { host, document } = state
  const { postPromptUrl, params } = document
  if (!params.saveConversation || params.conversationId === undefined || !postPromptUrl) return undefined
  const { info } = host.call
  const url = state.fill(postPromptUrl.url)
  const text = JSON.stringify(
    defined({
      action: 'fetch_conversation',
      content_type: 'text/json',
      content_disposition: 'agent.load_conversation',
      version: '2.0',
      ...state.fields,
      caller_id_name: info.fromName,
      caller_id_number: info.fromUser,
    }),
  )
  try {
    const body = { contentType: 'application/json', text }
    const reply = await host.context.fetchDocument({ url, method: 'POST', body })
    return summaryOf(reply.text)
  } catch (error) {
    if (host.call.signal.aborted) return undefined
    const reason = error instanceof SyntaxError ? 'the reply is not JSON' : (error as Error).message
    host.warn(`The earlier conversation is not known from ${redactedUrl(url)}: ${reason}`)
    return undefined
  }
}

const summaryOf = (reply: string): string | undefined => {
  if (reply.trim() === '') return undefined
  const value: unknown = JSON.parse(reply)
  const summary = isObject(value) ? value.conversation_summary : undefined
  const text =
    textOf(summary) ?? (typeof summary === 'object' && summary ? JSON.stringify(summary) : undefined)
  return text?.trim() ? text.trim().slice(0, maxLength) : undefined
}
