import { button, element, setText, show } from '../dom.ts'
import { initials } from '../format.ts'
import { icon } from '../icons.ts'
import type { Incoming, Phone } from '../phone.ts'
import type { View } from './header.ts'

interface Panel {
  readonly element: HTMLElement
  update(incoming: Incoming, blocked: boolean): void
}

const panel = ({ id, name, number }: Incoming, phone: Phone): Panel => {
  const accept = button(
    { class: 'accept', 'aria-label': `Accept the call from ${name}`, 'data-testid': 'accept' },
    () => void phone.accept(id),
    icon('pickup'),
    'Accept',
  )
  const reject = button(
    { class: 'reject', 'aria-label': `Reject the call from ${name}`, 'data-testid': 'reject' },
    () => phone.reject(id),
    icon('handset'),
    'Reject',
  )
  const hint = element(
    'p',
    { class: 'quiet' },
    'You are on a call. Hang up first to take this one, or reject it.',
  )
  const view = element(
    'section',
    { class: 'incoming', 'aria-label': `Incoming call from ${name}`, 'data-testid': 'incoming' },
    element('div', { class: 'face ringing', 'aria-hidden': 'true' }, initials(name)),
    element('p', { class: 'caller', 'data-testid': 'caller' }, name),
    element('p', { class: 'quiet', 'data-testid': 'caller-number' }, number),
    hint,
    element('div', { class: 'pair' }, reject, accept),
  )
  return {
    element: view,
    update({ answering }, blocked) {
      accept.disabled = answering || blocked
      reject.disabled = answering
      setText(accept.lastChild as HTMLElement, answering ? 'Answering…' : 'Accept')
      show(hint, blocked)
      view.classList.toggle('blocked', blocked)
    },
  }
}

/** One panel for each call that waits. */
export const incomingView = (phone: Phone): View => {
  const panels = new Map<string, Panel>()
  const view = element('div', { class: 'waiting' })
  return {
    element: view,
    update() {
      const ids = new Set(phone.incoming.map(({ id }) => id))
      for (const [id, gone] of panels) {
        if (ids.has(id)) continue
        gone.element.remove()
        panels.delete(id)
      }
      for (const incoming of phone.incoming) {
        let shown = panels.get(incoming.id)
        if (!shown) {
          shown = panel(incoming, phone)
          panels.set(incoming.id, shown)
          view.append(shown.element)
        }
        shown.update(incoming, phone.isBusy && !incoming.answering)
      }
    },
  }
}
