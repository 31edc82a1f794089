import { button, element, setText, show } from '../dom.ts'
import { destination } from '../format.ts'
import { icon } from '../icons.ts'
import type { RecentCalls } from '../memory.ts'
import type { Phone } from '../phone.ts'
import type { View } from './header.ts'

const arrows = { inbound: 'Incoming', outbound: 'Outgoing', missed: 'Missed' } as const

/** The dial box. */
export const dialView = (phone: Phone): View & { readonly fill: (to: string) => void } => {
  const to = element('input', {
    id: 'to',
    type: 'text',
    inputmode: 'url',
    autocomplete: 'off',
    autocapitalize: 'none',
    spellcheck: 'false',
    placeholder: '/public/bob or sip:bob@example.com',
    'aria-describedby': 'to-fault',
    'data-testid': 'dial-to',
  })
  const call = element(
    'button',
    { type: 'submit', class: 'accept', 'data-testid': 'dial' },
    icon('pickup'),
    'Call',
  )
  const fault = element('p', { id: 'to-fault', class: 'fault', role: 'alert' })
  show(fault, false)
  const form = element(
    'form',
    { class: 'dial' },
    element('label', { for: 'to' }, 'Who do you want to call?'),
    element('div', { class: 'row' }, to, call),
    fault,
  )
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const where = destination(to.value)
    setText(
      fault,
      where ? '' : 'Enter an address such as /public/bob, or a SIP URI such as sip:bob@example.com.',
    )
    show(fault, !where)
    to.setAttribute('aria-invalid', String(!where))
    if (where) void phone.dial(where)
    else to.focus()
  })
  return {
    element: form,
    update() {
      show(form, phone.current === undefined && phone.incoming.length === 0)
      call.disabled = phone.isBusy || phone.connection !== 'connected'
    },
    fill(text) {
      to.value = text
      to.focus()
    },
  }
}

/** The list of past calls; a click on one puts it into the dial box. */
export const recentsView = (recents: RecentCalls, pick: (to: string) => void): View => {
  const list = element('ul', { 'data-testid': 'recents' })
  const none = element('p', { class: 'quiet' }, 'Calls that you make and receive appear here.')
  let shown: unknown
  return {
    element: element(
      'section',
      { class: 'card recents', 'aria-labelledby': 'recents-title' },
      element('h2', { id: 'recents-title' }, 'Recent calls'),
      none,
      list,
    ),
    update() {
      if (shown === recents.list) return
      shown = recents.list
      show(none, recents.list.length === 0)
      list.replaceChildren(
        ...recents.list.map(({ to, name, direction, at }) =>
          element(
            'li',
            {},
            button(
              {
                class: `recent ${direction}`,
                'aria-label': `${arrows[direction]} call, ${name}. Put into the dial box`,
              },
              () => pick(to),
              element('span', { class: 'recent-name' }, name),
              element(
                'span',
                { class: 'quiet' },
                `${arrows[direction]} · ${new Date(at).toLocaleString([], { weekday: 'short', hour: '2-digit', minute: '2-digit' })}`,
              ),
            ),
          ),
        ),
      )
    },
  }
}
