import { button, element, setText, show } from '../dom.ts'
import { initials } from '../format.ts'
import { icon } from '../icons.ts'
import type { Incoming, Phone } from '../phone.ts'
import { keyed, type View } from './view.ts'

const panel = ({ id, name, number, video }: Incoming, phone: Phone) => {
  const accept = button(
    { class: 'accept', 'aria-label': `Accept the call from ${name}`, 'data-testid': 'accept' },
    () => void phone.accept(id),
    icon('pickup'),
    'Accept',
  )
  const withVideo = button(
    {
      class: 'accept',
      'aria-label': `Accept the call from ${name} with video`,
      'data-testid': 'accept-video',
    },
    () => void phone.accept(id, { video: true }),
    icon('camera'),
    'Video',
  )
  const reject = button(
    { class: 'reject', 'aria-label': `Decline the call from ${name}`, 'data-testid': 'reject' },
    () => phone.reject(id),
    icon('handset'),
    'Decline',
  )
  const hint = element('p', { class: 'quiet' })
  const view = element(
    'section',
    { class: 'incoming', 'aria-label': `Incoming call from ${name}`, 'data-testid': 'incoming' },
    element('div', { class: 'face ringing', 'aria-hidden': 'true' }, initials(name)),
    element(
      'div',
      { class: 'incoming-who' },
      element('p', { class: 'eyebrow' }, video ? 'Incoming video call' : 'Incoming call'),
      element('p', { class: 'caller', 'data-testid': 'caller' }, name),
      element('p', { class: 'quiet', 'data-testid': 'caller-number' }, number === name ? '' : number),
      hint,
    ),
    element('div', { class: 'answers' }, reject, accept, withVideo),
  )
  return {
    element: view,
    update({ answering }: Incoming) {
      const busy = phone.isBusy
      accept.disabled = withVideo.disabled = busy
      setText(accept.lastChild as HTMLElement, answering ? 'Answering…' : 'Accept')
      setText(hint, phone.current && !answering ? 'Accepting puts your current call on hold.' : '')
      show(hint, phone.current !== undefined && !answering)
    },
  }
}

/** Creates one panel for each incoming call. */
export const incomingView = (phone: Phone): View => {
  const view = element('div', { class: 'waiting' })
  const update = keyed<Incoming>(
    view,
    (incoming) => panel(incoming, phone),
    ({ id }) => id,
  )
  return { element: view, update: () => update(phone.incoming) }
}
