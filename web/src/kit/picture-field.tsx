import { Button, IconButton, Text, Tooltip } from '@radix-ui/themes'
import { ImagePlus, X } from 'lucide-react'
import { type ClipboardEvent, type DragEvent, type ReactNode, useRef, useState } from 'react'
import { IMAGE_TYPES } from '../../../src/domain/rules/images.ts'
import './pictures.css'
import type { Pictures } from './pictures.ts'

interface PictureFieldProps {
  pictures: Pictures
  /** Why the chosen agent cannot have them. */
  refusal?: string
  /** The field for the text. */
  children: ReactNode
}

/** Images can be pasted into the field, and dropped on it. */
export function PictureField({ pictures, refusal, children }: PictureFieldProps) {
  const [isOver, setOver] = useState(false)
  const pasted = (event: ClipboardEvent) => {
    const files = [...event.clipboardData.files]
    // A spreadsheet also puts a picture of its cells there.
    if (!files.length || event.clipboardData.types.includes('text/plain')) return
    event.preventDefault()
    pictures.add(files)
  }
  const isDragged = (event: DragEvent) => event.dataTransfer.types.includes('Files')
  const dragged = (event: DragEvent) => {
    if (!isDragged(event)) return
    // Otherwise the browser would open the file instead of this page.
    event.preventDefault()
    setOver(true)
  }
  const dropped = (event: DragEvent) => {
    if (!isDragged(event)) return
    event.preventDefault()
    setOver(false)
    pictures.add([...event.dataTransfer.files])
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button beside it does the same by keyboard
    <div
      className="picture-field"
      data-over={isOver || undefined}
      onPaste={pasted}
      onDragEnter={dragged}
      onDragOver={dragged}
      onDragLeave={() => setOver(false)}
      onDrop={dropped}
    >
      {children}
      {pictures.list.length > 0 && (
        <ul className="pictures" aria-label="Images">
          {pictures.list.map(({ image, name, src }, index) => (
            <li key={image}>
              <img src={src} alt={name || `Image ${index + 1}`} title={name} />
              <IconButton
                type="button"
                size="1"
                variant="solid"
                color="gray"
                highContrast
                className="picture-remove"
                aria-label={`Remove ${name || `image ${index + 1}`}`}
                onClick={() => pictures.remove(image)}
              >
                <X size={12} />
              </IconButton>
            </li>
          ))}
        </ul>
      )}
      {refusal && (
        <Text as="p" size="1" color="red" role="alert" mt="1" mb="0">
          {refusal}
        </Text>
      )}
    </div>
  )
}

export function PictureButton({ pictures, labelled = false }: { pictures: Pictures; labelled?: boolean }) {
  const input = useRef<HTMLInputElement>(null)
  const choose = () => input.current?.click()
  return (
    <>
      {labelled ? (
        <Button
          type="button"
          size="1"
          variant="soft"
          color="gray"
          highContrast
          loading={pictures.busy}
          onClick={choose}
        >
          <ImagePlus size={14} /> Add image
        </Button>
      ) : (
        <Tooltip content="Add an image. You can also paste or drop one">
          <IconButton
            type="button"
            variant="ghost"
            color="gray"
            highContrast
            className="picture-button"
            aria-label="Add image"
            loading={pictures.busy}
            onClick={choose}
          >
            <ImagePlus size={16} />
          </IconButton>
        </Tooltip>
      )}
      <input
        ref={input}
        hidden
        type="file"
        multiple
        accept={IMAGE_TYPES.join(',')}
        aria-label="Image files"
        onChange={event => {
          pictures.add([...(event.target.files ?? [])])
          // The same file can be chosen again after it was removed.
          event.target.value = ''
        }}
      />
    </>
  )
}
