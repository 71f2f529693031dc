package api

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/render/settings"
	"svc.example/internal/work/quote"
)

// settingFields are the form fields of settings that are numbers, or texts.
func settingFields(numbers bool) (names []string) {
	for _, f := range new(settings.Settings).Fields() {
		if (f.Number != nil) == numbers {
			names = append(names, f.Name)
		}
	}
	return names
}

// settings are the settings that a form has. Empty ones are mistakes. Error: invalid_settings.
func (f *uploadForm) settings() (s settings.Settings, err error) {
	for _, field := range s.Fields() {
		text, number := f.texts[field.Name], f.numbers[field.Name]
		switch {
		case text != nil && *text == "", number != nil && *number == 0:
			return s, quote.BadSettings(settings.Refuse(field.Name, "", "is empty or 0; leave it out to render what the file says"))
		case text != nil:
			*field.Text = *text
		case number != nil:
			*field.Number = *number
		}
	}
	return s, nil
}

// settingSchemas describes the settings as parts of a form, as JSON describes them.
func settingSchemas() map[string]*huma.Schema {
	registry := huma.NewMapRegistry("", huma.DefaultSchemaNamer)
	return huma.SchemaFromType(registry, reflect.TypeFor[settings.Settings]()).Properties
}
