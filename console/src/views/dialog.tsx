import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { texts } from '../texts/language.ts'
import { IconButton } from './parts.tsx'

/** Properties of a {@link Dialog}. */
export interface DialogProps {
  readonly title: string
  readonly testId: string
  readonly close: () => void
  readonly children: ComponentChildren
}

/** Modal dialog. The browser keeps the focus inside, and returns it afterwards. */
export const Dialog = ({ title, testId, close, children }: DialogProps) => {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const opened = dialog.current
    opened?.showModal()
    return () => opened?.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby={`${testId}-title`}
      data-testid={testId}
      onClose={close}
      {...{ closedby: 'any' }}
    >
      <div class="dialog-body">
        <header>
          <h2 id={`${testId}-title`}>{title}</h2>
          <IconButton icon="close" label={texts.value.close} press={close} testId={`${testId}-close`} />
        </header>
        {children}
      </div>
    </dialog>
  )
}
