import { Icon, type IconName } from '#kit/icons.tsx';
import { useTranslation } from '#visitor/translations/use-translation.ts';
import { touchQuery, useMedia } from '#visitor/use-media.ts';
import { filesOfInput } from './dropped-files.ts';
import type { FileToUpload } from './upload-item.ts';

interface FileInputProperties {
  readonly icon: IconName;
  readonly label: string;
  readonly className: string;
  readonly onFiles: (files: readonly FileToUpload[]) => void;
  readonly attributes?: {
    readonly multiple?: boolean;
    readonly webkitdirectory?: boolean;
    readonly capture?: 'environment';
    readonly accept?: string;
  };
}

/** A button that opens the file dialog of the browser. */
export function FileButton({ icon, label, className, onFiles, attributes = {} }: FileInputProperties) {
  return (
    <label class={className} title={label}>
      <Icon name={icon} /> <span class="button-text">{label}</span>
      <input
        type="file"
        multiple
        {...attributes}
        class="for-reader"
        onChange={({ currentTarget }) => {
          onFiles(filesOfInput(currentTarget.files));
          currentTarget.value = '';
        }}
      />
    </label>
  );
}

/** The upload buttons: for files, and for the camera on a device that is used by touch, otherwise for a folder. */
export function UploadButtons({ onFiles }: { onFiles: (files: readonly FileToUpload[]) => void }) {
  const { translate } = useTranslation();
  const isTouch = useMedia(touchQuery);
  return (
    <>
      {isTouch ? (
        <FileButton
          icon="camera"
          label={translate('takePicture')}
          className="button"
          onFiles={onFiles}
          attributes={{ accept: 'image/*', capture: 'environment' }}
        />
      ) : (
        <FileButton
          icon="folderUp"
          label={translate('uploadFolder')}
          className="button"
          onFiles={onFiles}
          attributes={{ webkitdirectory: true }}
        />
      )}
      <FileButton icon="upload" label={translate('upload')} className="button primary" onFiles={onFiles} />
    </>
  );
}
