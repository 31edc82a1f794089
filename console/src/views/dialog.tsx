import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { texts } from '../texts/language.ts'
import { IconButton } from './parts.tsx'

/** Properties of a {@link Dialog}. */
export interface DialogProps {
  readonly title: string
  readonly testId: string
  readonly close: () => void
  readonly children: ComponentChildren
}

/**
 * Modal dialog. The browser keeps the focus inside, and returns it afterwards.
 *
 * Escape calls `close` before the focus returns. The browser's event `close` comes later: a press of the
 * button that opens the dialog would be lost in between. The late event of a removed dialog is ignored,
 * because it would close the next one.
 */
export const Dialog = ({ title, testId, close, children }: DialogProps) => {
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
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
      onCancel={(event) => {
        event.preventDefault()
        close()
      }}
      onClose={(event) => event.currentTarget.isConnected && close()}
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
