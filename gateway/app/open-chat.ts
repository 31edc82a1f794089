import type { LimitsConfig } from '../../config/types.ts'
import { Chat } from '../chat/chat.ts'
import { MessageRetention } from '../chat/message-retention.ts'
import type { Metrics } from '../core/metrics.ts'
import { ConversationRows } from '../directory/tables/conversations.ts'
import type { Presence } from '../rpc/subscriber/presence.ts'
import type { AppContext, OpenedStore } from './open.ts'

/** Part of the {@link AppContext} that conversations need. */
export interface ChatContext extends Pick<AppContext, 'clock' | 'log' | 'closing'> {
  readonly followers: Pick<AppContext['followers'], 'change'>
  readonly config: { readonly limits: Pick<LimitsConfig, 'messagesKeptMs'> }
}

/** Opens the conversations. New messages are sent to the browsers in `presence`. */
export const openChat = (
  { config, clock, log, closing, followers }: ChatContext,
  { directory }: Pick<OpenedStore, 'directory'>,
  presence: Pick<Presence, 'emit'>,
  metrics: Pick<Metrics, 'gauge'>,
): Chat => {
  const rows = new ConversationRows(directory.store)
  const parts = { rows, clock, log: log.child({ part: 'chat' }) }
  const retention = new MessageRetention({ ...parts, keepMs: config.limits.messagesKeptMs })
  followers.change('limits.messagesKept', ({ limits }) => retention.change(limits.messagesKeptMs))
  closing.add('old messages', retention, (open) => open.close())
  const chat = new Chat({
    ...parts,
    resources: directory.resources,
    browsers: presence,
  })
  directory.onElsewhere((news) => void chat.deliverNews(news))
  metrics.gauge('chat_counted', () => chat.counted)
  return chat
}
