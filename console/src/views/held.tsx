import { readableName } from '../format.ts'
import { texts } from '../texts/language.ts'
import { laterTexts } from '../texts/later.ts'
import { Icon } from './icon.tsx'
import { usePage } from './page.ts'
import { Avatar, IconButton } from './parts.tsx'

/** Calls besides the current one. */
export const HeldCalls = () => {
  const { phone } = usePage()
  const t = texts.value
  const others = phone.lines.slice(1)
  if (others.length === 0) return null
  return (
    <ul class="held" aria-label={laterTexts().otherCalls} data-testid="held">
      {others.map((line) => (
        <li key={line.call.id}>
          <Avatar name={line.name} />
          <span class="held-name">{readableName(line.name)}</span>
          <span class="held-state">{t.onHold}</span>
          {line.call.active && phone.current?.call.state === 'active' && (
            <button
              type="button"
              class="plain"
              data-testid="connect"
              aria-label={laterTexts().completeTransfer(
                readableName(line.name),
                readableName(phone.current.name),
              )}
              onClick={() => void phone.controls.connect(line)}
            >
              <Icon name="transfer" />
              {laterTexts().connect}
            </button>
          )}
          <button
            type="button"
            class="plain"
            aria-label={laterTexts().switchTo(line.name)}
            data-testid="swap"
            onClick={() => void phone.controls.swap(line)}
          >
            <Icon name="swap" />
            {laterTexts().switchCall}
          </button>
          <IconButton
            icon="handset"
            label={laterTexts().hangUpWith(line.name)}
            class="danger"
            press={() => phone.controls.hangup(line)}
          />
        </li>
      ))}
    </ul>
  )
}
