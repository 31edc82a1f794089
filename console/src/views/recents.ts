import { button, element, show } from '../dom.ts'
import { moment } from '../format.ts'
import { icon } from '../icons.ts'
import type { RecentCall, RecentCalls } from '../memory.ts'
import type { Phone } from '../phone.ts'
import type { View } from './view.ts'

const labels = { inbound: 'Incoming', outbound: 'Outgoing', missed: 'Missed' } as const

/** Creates the list of past calls; each can be called back. */
export const recentsView = (recents: RecentCalls, phone: Phone, now: () => number): View => {
  const list = element('ul', { class: 'entries', 'data-testid': 'recents' })
  const none = element('p', { class: 'empty' }, 'Calls that you make and receive appear here.')
  let displayed: readonly RecentCall[] | undefined
  const row = ({ to, name, direction, at }: RecentCall) =>
    element(
      'li',
      { class: `entry ${direction}` },
      element(
        'div',
        { class: 'entry-text' },
        element('span', { class: 'entry-name' }, name),
        element('span', { class: 'quiet' }, `${labels[direction]} · ${moment(at, now())}`),
      ),
      button(
        { class: 'small', 'aria-label': `Call ${name}`, title: 'Call' },
        () => void phone.dial(to, { name }),
        icon('pickup'),
      ),
      button(
        { class: 'small', 'aria-label': `Call ${name} with video`, title: 'Video call' },
        () => void phone.dial(to, { name, video: true }),
        icon('camera'),
      ),
    )
  return {
    element: element('section', { class: 'page', 'aria-label': 'Recent calls' }, none, list),
    update() {
      if (displayed === recents.list) return
      displayed = recents.list
      show(none, displayed.length === 0)
      list.replaceChildren(...displayed.map(row))
    },
  }
}
