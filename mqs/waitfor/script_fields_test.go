package waitfor

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// fields sets fields of the struct that v points to, from pairs of a name and a value. The value of a bool may be left out
// if it is true. "note TEXT" appends to extra_text, "on COMM" sets communicator.
func (r *scriptReader) fields(v reflect.Value, words statement) error {
	for len(words) > 0 {
		name, value := words[0], ""
		if name == "on" {
			name = "communicator"
		}
		words = words[1:]
		f := fieldNamed(v.Elem(), name)
		if name == "note" {
			f = fieldNamed(v.Elem(), "extra_text")
		}
		if !f.IsValid() {
			return fmt.Errorf("%s has no field %q", v.Elem().Type(), name)
		}
		if len(words) > 0 {
			value = words[0]
		}
		switch isFlag := f.Kind() == reflect.Bool; {
		case isFlag && value != "false" && value != "true":
			f.SetBool(true)
			continue
		case len(words) == 0:
			return fmt.Errorf("%q has no value", name)
		}
		words = words[1:]
		if name == "note" {
			text, err := unquoted(value)
			if err != nil {
				return err
			}
			f.Set(reflect.Append(f, reflect.ValueOf(text)))
		} else if err := r.assign(f, value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// fieldNamed returns a field by its name in the JSON document, or by its name in Go if the document does not contain it.
func fieldNamed(v reflect.Value, name string) reflect.Value {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous {
			if inner := fieldNamed(v.Field(i), name); inner.IsValid() {
				return inner
			}
		} else if f.IsExported() && (tag == name || (tag == "" || tag == "-") && strings.ToLower(f.Name) == name) {
			return v.Field(i)
		}
	}
	return reflect.Value{}
}

func unquoted(text string) (string, error) {
	if strings.HasPrefix(text, `"`) {
		return strconv.Unquote(text)
	}
	return text, nil
}

// assign parses a value into a field.
func (r *scriptReader) assign(f reflect.Value, text string) error {
	bad := fmt.Errorf("%q is no %s", text, f.Type())
	switch f.Kind() {
	case reflect.Struct: // mqs.Maybe, "7=name" or "?" for a holder of a file's lock, or "world/1/gathered/20" for a flag
		if flag, ok := f.Addr().Interface().(*mqs.Flag); ok {
			words := strings.Split(text, "/")
			if len(words) != 4 {
				return bad
			}
			flag.Kind = mqs.FlagKind(words[2])
			return errors.Join(r.assign(reflect.ValueOf(&flag.Comm).Elem(), words[0]), r.assign(reflect.ValueOf(&flag.LocalRank).Elem(), words[1]),
				r.assign(reflect.ValueOf(&flag.Count).Elem(), words[3]))
		}
		if holder, ok := f.Addr().Interface().(*mqs.LockHolder); ok {
			pid, name, _ := strings.Cut(text, "=")
			holder.Name = name
			return r.assign(reflect.ValueOf(&holder.PID).Elem(), pid)
		}
		known := f.FieldByName("Known")
		if !known.IsValid() {
			return bad
		}
		f.SetZero()
		if text == "?" {
			return nil
		}
		known.SetBool(true)
		return r.assign(f.FieldByName("Value"), text)
	case reflect.String:
		text, err := unquoted(text)
		f.SetString(text)
		return err
	case reflect.Bool:
		f.SetBool(text == "true")
		if text != "true" && text != "false" {
			return bad
		}
	case reflect.Int, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(text, 0, f.Type().Bits())
		if f.Type() == reflect.TypeFor[time.Duration]() {
			var d time.Duration
			d, err = time.ParseDuration(text)
			n = int64(d)
		}
		if err != nil {
			return bad
		}
		f.SetInt(n)
	case reflect.Uint16, reflect.Uint64:
		n, err := strconv.ParseUint(text, 0, f.Type().Bits())
		if id, ok := r.ids[text]; ok && f.Type() == reflect.TypeFor[inferior.Addr]() {
			n, err = uint64(id), nil
		}
		if err != nil {
			return bad
		}
		f.SetUint(n)
	case reflect.Slice:
		f.SetZero()
		if text == "?" {
			return nil
		}
		f.Set(reflect.MakeSlice(f.Type(), 0, 0))
		if text == "none" {
			return nil
		}
		for _, part := range strings.Split(text, ",") {
			for _, one := range numbersIn(part) {
				element := reflect.New(f.Type().Elem()).Elem()
				if err := r.assign(element, one); err != nil {
					return err
				}
				f.Set(reflect.Append(f, element))
			}
		}
	default:
		return bad
	}
	return nil
}

// numbersIn returns the numbers of a range such as "2-4". Any other text is returned as it is.
func numbersIn(part string) (out []string) {
	from, to, _ := strings.Cut(part, "-")
	first, err := strconv.Atoi(from)
	last, err2 := strconv.Atoi(to)
	if err != nil || err2 != nil || last < first || last-first > maxRanks {
		return []string{part}
	}
	for n := first; n <= last; n++ {
		out = append(out, strconv.Itoa(n))
	}
	return out
}
