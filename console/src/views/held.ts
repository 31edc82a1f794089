import { button, element } from '../dom.ts'
import { icon } from '../icons.ts'
import type { Line } from '../lines.ts'
import type { Phone } from '../phone.ts'
import { keyed, type View } from './view.ts'

/** Creates the list of held calls. */
export const heldView = (phone: Phone): View => {
  const list = element('ul', { class: 'held', 'aria-label': 'Other calls', 'data-testid': 'held' })
  const row = (line: Line) => ({
    element: element(
      'li',
      {},
      element('span', { class: 'held-name' }, line.name),
      button(
        { class: 'plain', 'aria-label': `Switch to the call with ${line.name}`, 'data-testid': 'swap' },
        () => void phone.controls.swap(line),
        icon('swap'),
        'Switch',
      ),
      button(
        { class: 'plain danger', 'aria-label': `Hang up the call with ${line.name}` },
        () => phone.controls.hangup(line),
        icon('handset'),
      ),
    ),
  })
  const update = keyed<Line>(list, row, ({ call }) => call.id)
  return { element: list, update: () => update(phone.lines.slice(1)) }
}
