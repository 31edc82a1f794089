import type { Chats, Talk } from '../chats.ts'
import { button, element, setText, show } from '../dom.ts'
import { initials, moment } from '../format.ts'
import { threadView } from './thread.ts'
import { keyed, type View } from './view.ts'

const entry = (talk: Talk, chats: Chats, now: () => number) => {
  const text = element('span', { class: 'quiet one-line' })
  const at = element('span', { class: 'quiet' })
  const mark = element('span', { class: 'mark' }, element('span', { class: 'aside' }, 'New messages'))
  const view = button(
    { class: 'entry talk', 'data-testid': 'talk', 'data-name': talk.name },
    () => chats.open(talk.id, talk.name),
    element('span', { class: 'badge', 'aria-hidden': 'true' }, initials(talk.name)),
    element('span', { class: 'entry-text' }, element('span', { class: 'entry-name' }, talk.name), text),
    element('span', { class: 'talk-end' }, at, mark),
  )
  return {
    element: element('li', {}, view),
    update(latest: Talk) {
      setText(text, latest.text ?? '')
      setText(at, moment(latest.at, now()))
      show(mark, latest.unread)
      view.classList.toggle('unread', latest.unread)
    },
  }
}

/** Creates the list of conversations, replaced by the open one. */
export const chatsView = (chats: Chats, now: () => number): View => {
  const list = element('ul', { class: 'entries', 'data-testid': 'talks' })
  const state = element('p', { class: 'empty', role: 'status' })
  const more = button({ class: 'plain more' }, () => void chats.more(), 'Show more')
  const update = keyed<Talk>(
    list,
    (talk) => entry(talk, chats, now),
    ({ group, id }) => `${group} ${id}`,
  )
  const all = element('div', { class: 'talks' }, list, state, more)
  const thread = threadView(chats, now)
  return {
    element: element('section', { class: 'page', 'aria-label': 'Messages' }, all, thread.element),
    update() {
      update(chats.list)
      const status = chats.hasFailed
        ? 'The messages could not be loaded. Try again later.'
        : chats.list.length > 0
          ? ''
          : 'No conversations yet. Start one under People.'
      setText(state, status)
      show(state, status !== '')
      show(more, chats.hasMore)
      show(all, chats.thread === undefined)
      thread.update()
    },
  }
}
