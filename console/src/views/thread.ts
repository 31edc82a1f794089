import type { Message } from '@trunkline/client'
import type { Chats } from '../chats.ts'
import { button, element, setText, show } from '../dom.ts'
import { moment } from '../format.ts'
import { icon } from '../icons.ts'
import type { Thread } from '../thread.ts'
import { keyed, type View } from './view.ts'

const maxLength = 4096

const bubble = (message: Message, own: boolean, now: () => number) => ({
  element: element(
    'li',
    { class: own ? 'bubble own' : 'bubble', 'data-testid': 'message' },
    own ? undefined : element('span', { class: 'author' }, message.user_name || 'Guest'),
    element('span', { class: 'said' }, message.text),
    element('time', { class: 'said-at' }, moment(message.ts * 1000, now())),
  ),
})

/** Creates the input box of a message. */
const composer = (threadOf: () => Thread | undefined) => {
  const fault = element('p', { class: 'fault', role: 'alert', 'data-testid': 'message-fault' })
  const text = element('textarea', {
    rows: '1',
    maxlength: String(maxLength),
    placeholder: 'Message',
    'aria-label': 'Message',
    'data-testid': 'message-text',
  })
  const go = element(
    'button',
    { type: 'submit', class: 'primary round', 'aria-label': 'Send', 'data-testid': 'message-send' },
    icon('send'),
  )
  const form = element('form', { class: 'composer' }, text, go)
  const send = async () => {
    const thread = threadOf()
    const written = text.value.trim()
    if (!thread || !written || go.disabled) return
    go.disabled = true
    show(fault, false)
    try {
      await thread.send(written)
      thread.draft = ''
      if (threadOf() === thread) text.value = ''
    } catch (error) {
      // The text stays in the box, so that the user can send it again.
      setText(fault, (error as Error).message)
      show(fault, true)
    }
    go.disabled = false
    text.focus()
  }
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void send()
  })
  text.addEventListener('input', () => {
    const thread = threadOf()
    if (thread) thread.draft = text.value
  })
  text.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
    event.preventDefault()
    void send()
  })
  show(fault, false)
  return {
    element: element('div', { class: 'compose' }, fault, form),
    open(draft: string) {
      text.value = draft
      show(fault, false)
      text.focus()
    },
  }
}

/** Creates the view of the open conversation. */
export const threadView = (chats: Chats, now: () => number): View => {
  let displayed: Thread | undefined
  let follow: ((messages: readonly Message[]) => void) | undefined
  const name = element('h2', { 'data-testid': 'thread-name' })
  const back = button({ class: 'small', 'aria-label': 'All messages' }, () => chats.leave(), icon('back'))
  const older = button(
    { class: 'plain more', 'data-testid': 'older' },
    () => void displayed?.older(),
    'Earlier messages',
  )
  const state = element('p', { class: 'empty', role: 'status' })
  const said = element('div', { class: 'messages' })
  const scroll = element(
    'div',
    { class: 'scroll', tabindex: '0', role: 'log', 'aria-label': 'Messages' },
    older,
    state,
    said,
  )
  const write = composer(() => displayed)
  const view = element(
    'div',
    { class: 'thread', 'data-testid': 'thread' },
    element('header', { class: 'thread-top' }, back, name),
    scroll,
    write.element,
  )
  const open = (thread: Thread) => {
    const list = element('ul', {})
    said.replaceChildren(list)
    follow = keyed(
      list,
      (message) => bubble(message, thread.isOwn(message), now),
      ({ id }) => id,
    )
    setText(name, thread.name)
    write.open(thread.draft)
  }
  return {
    element: view,
    update() {
      const { thread } = chats
      show(view, thread !== undefined)
      const changed = thread !== displayed
      displayed = thread
      if (!thread) return
      if (changed) open(thread)
      // A reader at the end stays at the end. A reader further up is not moved, also when earlier messages
      // are added above.
      const fromEnd = scroll.scrollHeight - scroll.scrollTop
      const atEnd = changed || fromEnd - scroll.clientHeight < 40
      follow?.(thread.messages)
      show(older, thread.hasOlder)
      older.disabled = thread.isLoading
      const status = thread.hasFailed
        ? 'The messages could not be loaded. Try again later.'
        : thread.messages.length > 0
          ? ''
          : thread.isLoading
            ? 'Loading…'
            : 'No messages yet.'
      setText(state, status)
      show(state, status !== '')
      scroll.scrollTop = atEnd ? scroll.scrollHeight : scroll.scrollHeight - fromEnd
    },
  }
}
